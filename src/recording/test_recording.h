// For this folder's tests: a temporary file, what a reader saw of a recording, and chunks made by hand.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "recording/encoder.h"
#include "recording/reader.h"
#include "recording/writer.h"

namespace tarsier::recording {

class TempFile {
 public:
  TempFile() {
    const char* folder = getenv("TMPDIR");
    path_ = std::string(folder ? folder : "/tmp") + "/tarsier-recording-XXXXXX";
    fd_.reset(mkstemp(path_.data()));
  }
  ~TempFile() { unlink(path_.c_str()); }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }
  unique_fd take_fd() { return std::move(fd_); }
  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] std::vector<uint8_t> content() const {
    std::ifstream in(path_, std::ios::binary | std::ios::ate);
    std::vector<uint8_t> bytes(static_cast<size_t>(in.tellg()));
    in.seekg(0);
    in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return bytes;
  }

 private:
  std::string path_;
  unique_fd fd_;
};

// One line per event of the selected types, in the order of the file; selects all types if none is named.
class Collect final : public Visitor {
 public:
  explicit Collect(std::vector<std::string> types = {}) : types_(std::move(types)) {}

  void chunk(Chunk& chunk) override {
    ++chunks;
    if (types_.empty()) {
      for (const TypeIndex type : chunk.event_types()) chunk.select(type);
    }
    for (const std::string& name : types_) {
      if (const TypeIndex type = chunk.type(name)) chunk.select(type);
    }
  }

  void event(const Chunk& chunk, const EventView& event) override {
    std::string line(chunk.type_name(event.type()));
    const std::vector<FieldInfo> fields = chunk.fields(event.type());
    for (int32_t i = 0; i < static_cast<int32_t>(fields.size()); ++i) {
      const FieldInfo& field = fields[i];
      if (field.name == "startTime") continue;
      line.append(" ").append(field.name).append("=").append(value(chunk, event, field, {i}));
    }
    lines.push_back(std::move(line));
    starts.push_back(event.start().count);
  }

  std::vector<std::string> lines;
  std::vector<int64_t> starts;
  int chunks = 0;

 private:
  std::string value(const Chunk& chunk, const EventView& event, const FieldInfo& field, FieldIndex i) {
    if (field.kind == FieldKind::kNumber) return std::to_string(event.number(i));
    if (field.kind == FieldKind::kReal) return std::to_string(event.real(i));
    if (field.kind == FieldKind::kBinary) {
      const auto bytes = event.binary(i);
      return std::string(bytes.begin(), bytes.end());
    }
    ThreadInfo thread;
    if (field.type == "java.lang.Thread" && chunk.thread(event.constant(i), thread)) {
      return std::string(thread.os_name) + "/" + std::string(thread.java_name) + "/" + std::to_string(thread.os_id) +
             "/" + std::to_string(thread.java_id) + (thread.is_virtual ? "/virtual" : "") +
             (thread.group.empty() ? "" : "/group " + std::string(thread.group));
    }
    StackView stack;
    if (field.type == "jdk.types.StackTrace" && chunk.stack(event.constant(i), stack)) {
      std::string text;
      for (const FrameView& frame : stack.frames) {
        MethodView method;
        chunk.method(frame.method, method);
        text.append(method.class_name).append(".").append(method.name).append(method.descriptor).append(":");
        text.append(std::to_string(frame.line)).append("@").append(std::to_string(frame.bci)).append("/");
        text.append(frame_type_name(frame.type)).append(";");
      }
      return text + (stack.truncated ? "..." : "");
    }
    return std::string(event.string(i));
  }
  std::vector<std::string> types_;
};

inline Result<ReadSummary> read_all(std::span<const uint8_t> bytes, Visitor& visitor) {
  auto recording = Recording::over(bytes);
  if (!recording.ok()) return std::move(recording).error();
  return (*recording)->read(visitor);
}

inline std::unique_ptr<Writer> open_writer(TempFile& file, Writer::Options options = {}) {
  auto writer = Writer::open(file.take_fd(), std::move(options));
  return writer.ok() ? std::move(*writer) : nullptr;
}

// A sample with a stack of three frames; `n` varies method, line and thread.
inline void write_sample(Writer& writer, int n) {
  const std::string name = "method" + std::to_string(n % 10);
  const Frame frames[] = {
      {writer.method({"com/example/Work", name, "(I)V", 1}), n % 100 + 1, n % 9, FrameType::kInlined},
      {writer.method({"com/example/Work", "run", "()V", 1}), 7, 3, FrameType::kC2},
      {writer.method({{}, "start_thread", {}, 0}), 0, 0, FrameType::kNative}};
  const std::string thread = "worker-" + std::to_string(n % 4);
  const Value values[] = {writer.thread({thread, 100 + n % 4, thread, 10 + n % 4, false}),
                          writer.stack(frames, false),
                          int64_t{0},
                          int64_t{1'000'000},
                          int64_t{0},
                          std::string_view(),
                          ThreadId()};
  writer.event(Event::kExecutionSample, monotonic_now(), values);
}

// A chunk with types and bytes of the test's own choice.
class HandMadeChunk {
 public:
  struct Field {
    std::string name;
    int type;
    bool constant = false, array = false;
  };
  HandMadeChunk& type(int id, const std::string& name, std::vector<Field> fields = {}, const std::string& super = {}) {
    types_.push_back({id, name, super, std::move(fields)});
    return *this;
  }
  // The primitive types have the ids 10 to 18.
  HandMadeChunk& primitives() {
    const char* const names[] = {"boolean", "byte",   "short",           "char", "int", "long",
                                 "float",   "double", "java.lang.String"};
    for (int i = 0; i < 9; ++i) type(10 + i, names[i]);
    return *this;
  }
  HandMadeChunk& event(int type, const std::vector<uint8_t>& body) {
    const size_t begin = events_.begin_event();
    events_.varint(type);
    events_.raw(body);
    events_.end_event(begin);
    return *this;
  }
  // `pools` holds type, count, entries of each pool.
  HandMadeChunk& constants(int count, const std::vector<uint8_t>& pools) {
    pool_count_ = count;
    pools_ = pools;
    return *this;
  }
  int64_t ticks_per_second = 1'000'000'000;
  int64_t delta_of_constants = 0;

  [[nodiscard]] std::vector<uint8_t> bytes() const {
    Encoder out;
    out.raw(kMagic);
    out.be(2, 2);
    out.be(1, 2);
    for (int i = 0; i < 6; ++i) out.be(0, 8);
    out.be(ticks_per_second, 8);
    out.be(0, 4);
    out.raw(events_.bytes());
    put_be(const_cast<uint8_t*>(out.at(kMetadataAt)), out.size(), 8);
    metadata(out);
    put_be(out.at(kConstantPoolAt), out.size(), 8);
    const size_t begin = out.begin_event();
    out.varint(1);
    out.fill(2);
    out.varint(static_cast<uint64_t>(delta_of_constants));
    out.u8(0);
    out.varint(pool_count_);
    out.raw(pools_);
    out.end_event(begin);
    put_be(out.at(kChunkSizeAt), out.size(), 8);
    return {out.bytes().begin(), out.bytes().end()};
  }

 private:
  struct Type {
    int id;
    std::string name, super;
    std::vector<Field> fields;
  };
  void metadata(Encoder& out) const {
    std::vector<std::string> strings;
    Encoder tree;
    const auto s = [&](const std::string& text) {
      strings.push_back(text);
      tree.varint(strings.size() - 1);
    };
    const auto attribute = [&](const std::string& key, const std::string& value) { s(key), s(value); };
    s("root"), tree.varint(0), tree.varint(2);
    s("metadata"), tree.varint(0), tree.varint(types_.size());
    for (const Type& type : types_) {
      s("class"), tree.varint(3);
      attribute("id", std::to_string(type.id)), attribute("name", type.name), attribute("superType", type.super);
      tree.varint(type.fields.size());
      for (const Field& field : type.fields) {
        s("field"), tree.varint(2 + field.constant + field.array);
        attribute("name", field.name), attribute("class", std::to_string(field.type));
        if (field.constant) attribute("constantPool", "true");
        if (field.array) attribute("dimension", "1");
        tree.varint(0);
      }
    }
    s("region"), tree.varint(0), tree.varint(0);
    const size_t begin = out.begin_event();
    out.varint(0);
    out.fill(3);
    out.varint(strings.size());
    for (const std::string& text : strings) out.string(text);
    out.raw(tree.bytes());
    out.end_event(begin);
  }

  std::vector<Type> types_;
  Encoder events_;
  int pool_count_ = 0;
  std::vector<uint8_t> pools_;
};

}  // namespace tarsier::recording
