#include <algorithm>

#include "analysis/jfr_test_file.h"
#include "base/varint.h"

namespace tarsier::analysis {
namespace {

enum TypeId : int64_t {
  kLong = 2,
  kInt,
  kBoolean,
  kString,
  kThread,
  kClass,
  kSymbol,
  kMethod,
  kStackTrace,
  kStackFrame,
  kFrameType,
  kTimestamp,
};

class Bytes {
 public:
  void varint(uint64_t value) {
    uint8_t buffer[kMaxVarint];
    data.insert(data.end(), buffer, buffer + put_varint(buffer, value));
  }
  void number(int64_t value) { varint(static_cast<uint64_t>(value)); }
  void string(const std::string& text) {
    data.push_back(text.empty() ? 1 : 3);
    if (text.empty()) return;
    varint(text.size());
    data.insert(data.end(), text.begin(), text.end());
  }
  void fixed(uint64_t value, int bytes) {
    for (int i = bytes - 1; i >= 0; --i) data.push_back(static_cast<uint8_t>(value >> (8 * i)));
  }
  void append(const Bytes& other) { data.insert(data.end(), other.data.begin(), other.data.end()); }
  // With its size in front, which counts itself: always four bytes here.
  void event(const Bytes& body) {
    uint8_t size[4];
    put_varint_padded4(size, static_cast<uint32_t>(body.data.size() + 4));
    data.insert(data.end(), size, size + 4);
    append(body);
  }
  std::vector<uint8_t> data;
};

// The metadata's tree of elements over a table of strings.
class Metadata {
 public:
  void open(const std::string& name, std::vector<std::pair<std::string, std::string>> attributes, size_t children) {
    tree_.number(id(name));
    tree_.varint(attributes.size());
    for (const auto& [key, value] : attributes) {
      tree_.number(id(key));
      tree_.number(id(value));
    }
    tree_.varint(children);
  }
  struct Field {
    std::string name;
    int64_t type;
    bool constant = false;
    bool array = false;
  };
  void type(const std::string& name, int64_t type_id, const std::vector<Field>& fields, const std::string& super = "") {
    std::vector<std::pair<std::string, std::string>> attributes = {{"name", name}, {"id", std::to_string(type_id)}};
    if (!super.empty()) attributes.emplace_back("superType", super);
    open("class", attributes, fields.size());
    for (const Field& field : fields) {
      std::vector<std::pair<std::string, std::string>> of_field = {{"name", field.name},
                                                                   {"class", std::to_string(field.type)}};
      if (field.constant) of_field.emplace_back("constantPool", "true");
      if (field.array) of_field.emplace_back("dimension", "1");
      const bool is_time = field.name == "startTime";
      open("field", of_field, is_time ? 1 : 0);
      if (is_time) open("annotation", {{"class", std::to_string(kTimestamp)}, {"value", "TICKS"}}, 0);
    }
  }
  Bytes event() {
    Bytes body;
    for (int i = 0; i < 4; ++i) body.varint(0);  // type, start, duration, metadata id
    body.varint(strings_.size());
    for (const std::string& text : strings_) body.string(text);
    body.append(tree_);
    return body;
  }

 private:
  int64_t id(const std::string& text) {
    const auto found = std::find(strings_.begin(), strings_.end(), text);
    if (found != strings_.end()) return found - strings_.begin();
    strings_.push_back(text);
    return static_cast<int64_t>(strings_.size() - 1);
  }
  std::vector<std::string> strings_;
  Bytes tree_;
};

int64_t constant_type(const std::string& field) {
  return field == "stackTrace" ? kStackTrace : field.ends_with("Class") ? kClass : kThread;
}

Bytes encode_metadata(const std::vector<const TestEvent*>& types) {
  Metadata metadata;
  metadata.open("root", {}, 1);
  metadata.open("metadata", {}, 12 + types.size());
  metadata.type("jdk.jfr.Timestamp", kTimestamp, {});
  metadata.type("long", kLong, {});
  metadata.type("int", kInt, {});
  metadata.type("boolean", kBoolean, {});
  metadata.type("java.lang.String", kString, {});
  metadata.type("java.lang.Thread", kThread,
                {{"osName", kString}, {"osThreadId", kLong}, {"javaName", kString}, {"javaThreadId", kLong}});
  metadata.type("java.lang.Class", kClass, {{"name", kSymbol, true}});
  metadata.type("jdk.types.Symbol", kSymbol, {{"string", kString}});
  metadata.type("jdk.types.Method", kMethod,
                {{"type", kClass, true}, {"name", kSymbol, true}, {"descriptor", kSymbol, true}});
  metadata.type("jdk.types.StackTrace", kStackTrace, {{"truncated", kBoolean}, {"frames", kStackFrame, false, true}});
  metadata.type("jdk.types.StackFrame", kStackFrame,
                {{"method", kMethod, true}, {"lineNumber", kInt}, {"bytecodeIndex", kInt}, {"type", kFrameType, true}});
  metadata.type("jdk.types.FrameType", kFrameType, {{"description", kString}});
  int64_t id = kFirstTestType;
  for (const TestEvent* event : types) {
    std::vector<Metadata::Field> fields = {{"startTime", kLong}};
    for (const auto& [name, value] : event->fields) {
      const bool constant = std::holds_alternative<ConstantOf>(value);
      const bool text = std::holds_alternative<std::string>(value);
      fields.push_back({name, constant ? constant_type(name) : text ? int64_t{kString} : int64_t{kLong}, constant});
    }
    metadata.type(event->type, id++, fields, "jdk.jfr.Event");
  }
  return metadata.event();
}

// Every frame has a method, class and symbols of its own: what is equal is for the loader to find out.
Bytes encode_constants(const TestChunk& chunk) {
  Bytes stacks, methods, classes, symbols, frame_types, threads;
  int64_t next = 0;
  for (const auto& [key, frames] : chunk.stacks) {
    stacks.number(key);
    stacks.number(chunk.truncated ? 1 : 0);
    stacks.varint(frames.size());
    for (const TestFrame& frame : frames) {
      const int64_t id = ++next;
      stacks.number(id);
      stacks.number(frame.line);
      stacks.number(0);
      stacks.number(static_cast<int64_t>(frame.type) + 1);
      for (const int64_t value : {id, id, 3 * id, 3 * id + 1}) methods.number(value);
      for (const int64_t value : {id, 3 * id + 2}) classes.number(value);
      symbols.number(3 * id);
      symbols.string(frame.name);
      symbols.number(3 * id + 1);
      symbols.string("()V");
      symbols.number(3 * id + 2);
      symbols.string(frame.class_name);
    }
  }
  constexpr int kTypes = static_cast<int>(recording::FrameType::kCount);
  for (int i = 0; i < kTypes; ++i) {
    frame_types.number(i + 1);
    frame_types.string(std::string(recording::frame_type_jfr_name(static_cast<recording::FrameType>(i))));
  }
  for (const auto& [key, thread] : chunk.threads) {
    threads.number(key);
    threads.string(thread.java_id == 0 ? thread.name : "");
    threads.number(thread.os_id);
    threads.string(thread.java_id != 0 ? thread.name : "");
    threads.number(thread.java_id);
  }
  struct Pool {
    int64_t type;
    int64_t count;
    const Bytes& values;
  };
  const std::vector<Pool> pools = {{kStackTrace, static_cast<int64_t>(chunk.stacks.size()), stacks},
                                   {kMethod, next, methods},
                                   {kClass, next, classes},
                                   {kSymbol, 3 * next, symbols},
                                   {kFrameType, kTypes, frame_types},
                                   {kThread, static_cast<int64_t>(chunk.threads.size()), threads}};
  Bytes body;
  body.number(1);                              // checkpoint
  for (int i = 0; i < 3; ++i) body.varint(0);  // start, duration, no checkpoint before
  body.data.push_back(0);
  body.number(std::count_if(pools.begin(), pools.end(), [](const Pool& pool) { return pool.count > 0; }));
  for (const Pool& pool : pools) {
    if (pool.count == 0) continue;
    body.number(pool.type);
    body.number(pool.count);
    body.append(pool.values);
  }
  return body;
}

}  // namespace

std::vector<uint8_t> encode_chunk(const TestChunk& chunk) {
  constexpr size_t kHeader = 68;
  std::vector<const TestEvent*> types;
  Bytes events;
  for (const TestEvent& event : chunk.events) {
    auto type = std::find_if(types.begin(), types.end(), [&](const TestEvent* t) { return t->type == event.type; });
    if (type == types.end()) type = types.insert(type, &event);
    Bytes body;
    body.number(kFirstTestType + (type - types.begin()));
    body.varint(static_cast<uint64_t>(event.start) - static_cast<uint64_t>(chunk.start_ns));  // ticks are ns since then
    for (const auto& [name, value] : event.fields) {
      if (const auto* text = std::get_if<std::string>(&value)) {
        body.string(*text);
      } else if (const auto* constant = std::get_if<ConstantOf>(&value)) {
        body.number(constant->key);
      } else {
        body.number(std::get<int64_t>(value));
      }
    }
    events.event(body);
  }
  const size_t constants_at = kHeader + events.data.size();
  events.event(encode_constants(chunk));
  const size_t metadata_at = kHeader + events.data.size();
  events.event(encode_metadata(types));

  Bytes file;
  file.fixed(0x464c5200, 4);  // "FLR\0"
  file.fixed(2, 2);
  file.fixed(1, 2);
  file.fixed(kHeader + events.data.size(), 8);
  file.fixed(constants_at, 8);
  file.fixed(metadata_at, 8);
  file.fixed(static_cast<uint64_t>(chunk.start_ns), 8);
  file.fixed(static_cast<uint64_t>(chunk.duration_ns), 8);
  file.fixed(0, 8);
  file.fixed(1'000'000'000, 8);
  file.fixed(0, 4);
  file.append(events);
  return file.data;
}

}  // namespace tarsier::analysis
