#include "recording/constant_tables.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "recording/descriptor.h"
#include "recording/writer.h"

namespace tarsier::recording {
namespace {

constexpr std::array<std::string_view, static_cast<size_t>(ThreadState::kCount)> kThreadStates = {"STATE_RUNNABLE",
                                                                                                  "STATE_SLEEPING"};

// What the tables intern beside plain text: the indexes of other entries.
struct ClassEntry {
  uint32_t symbol;
  uint32_t package;  // + 1; 0: none
};
struct MethodEntry {
  uint32_t klass;
  uint32_t name;
  uint32_t descriptor;
  int32_t modifiers;
};

template <class T>
std::span<const uint8_t> bytes_of(const T& entry) {
  return {reinterpret_cast<const uint8_t*>(&entry), sizeof(T)};
}
template <class T>
T entry_of(std::span<const uint8_t> bytes) {
  T entry;
  std::memcpy(&entry, bytes.data(), sizeof(T));
  return entry;
}

std::string_view text_of(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Checkpoint begin_checkpoint(Encoder& out, Nanos now, size_t pools) {
  Checkpoint checkpoint;
  checkpoint.at = out.size();
  out.fill(kPaddedVarint);
  out.varint(kCheckpointType);
  out.int64(now.count);
  out.int64(0);  // duration
  checkpoint.delta_at = out.size();
  out.fill(kMaxVarint);
  put_varint_padded9(out.at(checkpoint.delta_at), 0);
  out.u8(kFlushCheckpoint);
  out.varint(pools);
  return checkpoint;
}
void end_checkpoint(Encoder& out, const Checkpoint& checkpoint) {
  put_varint_padded5(out.at(checkpoint.at), out.size() - checkpoint.at);
}

void begin_pool(Encoder& out, TypeId type, size_t entries) {
  out.varint(id_of(type));
  out.varint(entries);
}

}  // namespace

Checkpoint encode_static_constants(Encoder& out, Nanos now) {
  const Checkpoint checkpoint = begin_checkpoint(out, now, 2);
  begin_pool(out, TypeId::kFrameType, static_cast<size_t>(FrameType::kCount));
  for (size_t i = 0; i < static_cast<size_t>(FrameType::kCount); ++i) {
    out.varint(key_of(static_cast<FrameType>(i)));
    out.string(frame_type_jfr_name(static_cast<FrameType>(i)));
  }
  begin_pool(out, TypeId::kThreadState, kThreadStates.size());
  for (size_t i = 0; i < kThreadStates.size(); ++i) {
    out.varint(i + 1);
    out.string(kThreadStates[i]);
  }
  end_checkpoint(out, checkpoint);
  return checkpoint;
}

uint32_t ConstantTables::Table::intern(std::span<const uint8_t> bytes) {
  const uint32_t index = values.intern(bytes);
  if (index == chunks.size()) chunks.push_back(0);
  return index;
}

uint64_t ConstantTables::Table::use(uint32_t index, uint32_t chunk) {
  if (chunks[index] != chunk) {
    chunks[index] = chunk;
    unwritten.push_back(index);
  }
  return first_key + index;
}

void ConstantTables::Table::forget() {
  first_key += values.size();
  values = {};
  chunks = {};
  unwritten = {};
}

size_t ConstantTables::Table::memory() const {
  return values.memory() + (chunks.capacity() + unwritten.capacity()) * sizeof(uint32_t);
}

uint32_t ConstantTables::symbol(std::string_view text) {
  if (!is_valid_utf8(text)) {
    text_.clear();
    append_as_utf8(text_, text);
    text = text_;
  }
  return symbols_.intern({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

uint32_t ConstantTables::group(std::string_view name) {
  return groups_.intern({reinterpret_cast<const uint8_t*>(name.data()), name.size()});
}

uint32_t ConstantTables::class_of(std::string_view name) {
  ClassEntry entry{symbol(name), 0};
  const size_t slash = name.rfind('/');
  if (slash != std::string_view::npos && slash > 0 && !name.starts_with('[')) {
    const uint32_t package_name = symbol(name.substr(0, slash));
    entry.package = packages_.intern(bytes_of(package_name)) + 1;
  }
  return classes_.intern(bytes_of(entry));
}

MethodId ConstantTables::method(const MethodInfo& info) {
  // The JDK's tool fails on a method without class or without a well-formed descriptor: native frames get an empty
  // class and an empty list of parameters.
  const std::string_view descriptor = is_method_descriptor(info.descriptor) ? info.descriptor : kNoDescriptor;
  const MethodEntry entry{class_of(info.class_name), symbol(info.name), symbol(descriptor), info.modifiers};
  return MethodId(methods_.intern(bytes_of(entry)) + 1);
}

uint32_t ConstantTables::index_of(MethodId method) {
  const uint32_t index = method.value - 1;
  return index < methods_.values.size() ? index : this->method({{}, "[unknown]", {}, 0}).value - 1;
}

void ConstantTables::encode(const Frame& frame) {
  scratch_.varint(methods_.first_key + index_of(frame.method));
  scratch_.int32(frame.line);
  scratch_.int32(frame.bci);
  scratch_.varint(key_of(frame.type));
}

void ConstantTables::add(EncodedStack& stack, const Frame& frame) {
  scratch_.clear();
  encode(frame);
  const uint32_t method = index_of(frame.method);
  stack.add(scratch_.bytes(), method);
  if (stack.used_in_chunk_ == chunk_) methods_.use(method, chunk_);
}

StackId ConstantTables::stack(std::span<const Frame> inner, EncodedStack& frames, std::span<const Frame> outer,
                              bool truncated) {
  const size_t count = inner.size() + frames.size() + outer.size();
  if (count == 0) return StackId(0);
  scratch_.clear();
  scratch_.boolean(truncated);
  scratch_.varint(count);
  for (const Frame& frame : inner) encode(frame);
  scratch_.raw(frames.bytes());
  for (const Frame& frame : outer) encode(frame);
  const uint32_t stack = stacks_.intern(scratch_.bytes());
  // Whoever asks for its id uses it in this chunk; later its methods would have to be decoded first.
  if (stack == methods_used_.size()) methods_used_.push_back(0);
  if (std::exchange(methods_used_[stack], chunk_) == chunk_) return StackId(stack + 1);
  for (const std::span<const Frame> part : {inner, outer}) {
    for (const Frame& frame : part) methods_.use(index_of(frame.method), chunk_);
  }
  if (std::exchange(frames.used_in_chunk_, chunk_) != chunk_) {
    for (const EncodedStack::Frame& frame : frames.frames_) methods_.use(frame.method, chunk_);
  }
  return StackId(stack + 1);
}

ThreadId ConstantTables::thread(const ThreadInfo& info) {
  const std::array<int64_t, 2> identity = {info.os_id, info.java_id};
  const uint32_t index = thread_ids_.intern(bytes_of(identity));
  if (index == threads_.size()) threads_.emplace_back();
  // A thread without Java name is no Java thread: null, as JFR has it.
  const std::string_view java_name = info.java_name.empty() ? std::string_view() : info.java_name;
  scratch_.clear();
  scratch_.string(info.os_name.data() ? info.os_name : std::string_view(""));
  scratch_.int64(info.os_id);
  scratch_.string(java_name);
  scratch_.int64(info.java_id);

  Thread& thread = threads_[index];
  const std::span<const uint8_t> encoded = scratch_.bytes();
  if (!std::equal(encoded.begin(), encoded.end(), thread.encoded.begin(), thread.encoded.end()) ||
      thread.is_virtual != info.is_virtual || thread.group != info.group) {
    thread_bytes_ -= thread.encoded.capacity() + thread.group.capacity();
    thread.encoded.assign(encoded.begin(), encoded.end());
    thread.group = info.group;
    thread.is_virtual = info.is_virtual;
    thread_bytes_ += thread.encoded.capacity() + thread.group.capacity();
    thread.key = next_thread_key_++;
    thread.chunk = 0;
  }
  return ThreadId(index + 1);
}

uint64_t ConstantTables::use(StackId id) {
  const uint32_t index = id.value - 1;
  return index < stacks_.values.size() ? stacks_.use(index, chunk_) : 0;
}

uint64_t ConstantTables::use(ThreadId id) {
  const uint32_t index = id.value - 1;
  if (index >= threads_.size()) return 0;
  Thread& thread = threads_[index];
  if (thread.chunk != chunk_) {
    thread.chunk = chunk_;
    thread_pool_.varint(thread.key);
    thread_pool_.raw(thread.encoded);
    thread_pool_.varint(thread.group.empty() ? 0 : groups_.use(group(thread.group), chunk_));
    thread_pool_.boolean(thread.is_virtual);
    ++unwritten_threads_;
  }
  return thread.key;
}

uint64_t ConstantTables::use(ClassId id) {
  const uint32_t index = id.value - 1;
  return index < classes_.values.size() ? classes_.use(index, chunk_) : 0;
}

void ConstantTables::start_chunk() {
  ++chunk_;
  for (Table* table : {&symbols_, &packages_, &classes_, &methods_, &stacks_, &groups_}) table->unwritten.clear();
  thread_pool_.clear();
  unwritten_threads_ = 0;
}

void ConstantTables::use_what_unwritten_constants_need() {
  for (const uint32_t index : stacks_.unwritten) {
    if (std::exchange(methods_used_[index], chunk_) == chunk_) continue;
    const std::span<const uint8_t> bytes = stacks_.values.bytes(index);
    const uint8_t* p = bytes.data() + 1;
    const uint8_t* const end = bytes.data() + bytes.size();
    uint64_t frames = 0, method = 0, skipped = 0;
    p = get_varint(p, end, frames);
    for (; frames > 0; --frames) {
      p = get_varint(p, end, method);
      for (int i = 0; i < 3; ++i) p = get_varint(p, end, skipped);  // line, bci, type
      methods_.use(static_cast<uint32_t>(method - methods_.first_key), chunk_);
    }
  }
  for (const uint32_t index : methods_.unwritten) {
    const auto entry = entry_of<MethodEntry>(methods_.values.bytes(index));
    classes_.use(entry.klass, chunk_);
    symbols_.use(entry.name, chunk_);
    symbols_.use(entry.descriptor, chunk_);
  }
  for (const uint32_t index : classes_.unwritten) {
    const auto entry = entry_of<ClassEntry>(classes_.values.bytes(index));
    symbols_.use(entry.symbol, chunk_);
    if (entry.package) packages_.use(entry.package - 1, chunk_);
  }
  for (const uint32_t index : packages_.unwritten) {
    symbols_.use(entry_of<uint32_t>(packages_.values.bytes(index)), chunk_);
  }
}

template <class EncodeEntry>
void ConstantTables::encode_pool(Encoder& out, TypeId type, Table& table, EncodeEntry encode_entry) {
  // An empty pool makes the JDK's reader fail.
  if (table.unwritten.empty()) return;
  begin_pool(out, type, table.unwritten.size());
  for (const uint32_t index : table.unwritten) {
    out.varint(table.first_key + index);
    encode_entry(table.values.bytes(index));
  }
  table.unwritten.clear();
}

// The order of fields is that of the types in metadata.cpp.
Checkpoint ConstantTables::encode_checkpoint(Encoder& out, Nanos now) {
  use_what_unwritten_constants_need();
  size_t pools = unwritten_threads_ > 0 ? 1 : 0;
  for (const Table* table : {&symbols_, &packages_, &classes_, &methods_, &stacks_, &groups_}) {
    if (!table->unwritten.empty()) ++pools;
  }
  const Checkpoint checkpoint = begin_checkpoint(out, now, pools);
  if (unwritten_threads_ > 0) {
    begin_pool(out, TypeId::kThread, unwritten_threads_);
    out.raw(thread_pool_.bytes());
    thread_pool_.clear();
    unwritten_threads_ = 0;
  }
  encode_pool(out, TypeId::kThreadGroup, groups_, [&](std::span<const uint8_t> bytes) {
    out.varint(0);  // parent
    out.string(text_of(bytes));
  });
  encode_pool(out, TypeId::kStackTrace, stacks_, [&](std::span<const uint8_t> bytes) { out.raw(bytes); });
  encode_pool(out, TypeId::kMethod, methods_, [&](std::span<const uint8_t> bytes) {
    const auto entry = entry_of<MethodEntry>(bytes);
    out.varint(classes_.first_key + entry.klass);
    out.varint(symbols_.first_key + entry.name);
    out.varint(symbols_.first_key + entry.descriptor);
    out.int32(entry.modifiers);
    out.boolean(false);  // hidden
  });
  encode_pool(out, TypeId::kClass, classes_, [&](std::span<const uint8_t> bytes) {
    const auto entry = entry_of<ClassEntry>(bytes);
    out.varint(0);  // class loader
    out.varint(symbols_.first_key + entry.symbol);
    out.varint(entry.package ? packages_.first_key + entry.package - 1 : 0);
    out.int32(0);  // modifiers
    out.boolean(false);
  });
  encode_pool(out, TypeId::kPackage, packages_, [&](std::span<const uint8_t> bytes) {
    out.varint(symbols_.first_key + entry_of<uint32_t>(bytes));
    out.varint(0);  // module
    out.boolean(false);
  });
  encode_pool(out, TypeId::kSymbol, symbols_, [&](std::span<const uint8_t> bytes) { out.string(text_of(bytes)); });
  end_checkpoint(out, checkpoint);
  return checkpoint;
}

void ConstantTables::forget(std::span<ThreadId* const> keep) {
  struct Kept {
    ThreadId* id;
    std::vector<uint8_t> identity;
    Thread thread;
  };
  std::vector<Kept> kept;
  for (ThreadId* id : keep) {
    if (id->value == 0 || id->value > threads_.size()) continue;
    const std::span<const uint8_t> identity = thread_ids_.bytes(id->value - 1);
    kept.push_back({id, {identity.begin(), identity.end()}, threads_[id->value - 1]});
  }
  for (Table* table : {&symbols_, &packages_, &classes_, &methods_, &stacks_, &groups_}) table->forget();
  methods_used_ = {};
  thread_ids_ = {};
  threads_ = {};
  thread_bytes_ = 0;
  for (Kept& k : kept) {
    const uint32_t index = thread_ids_.intern(k.identity);
    if (index == threads_.size()) {
      thread_bytes_ += k.thread.encoded.capacity() + k.thread.group.capacity();
      threads_.push_back(std::move(k.thread));
    }
    *k.id = ThreadId(index + 1);
  }
}

size_t ConstantTables::memory() const {
  size_t total = methods_used_.capacity() * sizeof(uint32_t) + thread_ids_.memory() +
                 threads_.capacity() * sizeof(Thread) + thread_bytes_ + thread_pool_.capacity();
  for (const Table* table : {&symbols_, &packages_, &classes_, &methods_, &stacks_, &groups_}) total += table->memory();
  return total;
}

}  // namespace tarsier::recording
