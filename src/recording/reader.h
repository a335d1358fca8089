// Reads a JFR recording, ours or anybody's: which events and fields there are is taken from the metadata in the file.
// Memory-mapped, one pass over the events, no allocation per event. A file that is being written is read up to its last
// flush, one that gets shorter meanwhile up to there. The file is hostile: every length, index and depth
// is checked, and of a damaged file every intact chunk is read.
//
//   auto file = Recording::open(path);
//   file->read(visitor)   ->  for each chunk: visitor.chunk(chunk), then visitor.event(..) for each event of a type
//                             for which the visitor's chunk() called chunk.select(type)
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "recording/constants.h"

namespace tarsier::recording {

// A position in an event type's list of fields; stays valid within its chunk.
struct FieldIndex {
  int32_t index = -1;
  explicit operator bool() const { return index >= 0; }
};
struct TypeIndex {
  int32_t index = -1;
  explicit operator bool() const { return index >= 0; }
};
// A constant's key within its chunk: compare and remember it there, resolve it by Chunk.
struct ConstantKey {
  int64_t key = 0;
  bool operator==(const ConstantKey&) const = default;
};

// Views into the file: valid while the Recording is open.
struct FrameView {
  ConstantKey method;
  int32_t line = 0;
  int32_t bci = -1;
  FrameType type = FrameType::kJava;
};
struct StackView {
  bool truncated = false;
  std::vector<FrameView> frames;  // innermost first; reused by the caller
};
// Text is valid UTF-8. What is stored otherwise is converted once into memory that the Recording owns.
struct MethodView {
  std::string_view class_name;  // as stored, with slashes; empty for frames that are no Java methods
  std::string_view name;
  std::string_view descriptor;  // empty if the class is
};

enum class FieldKind : uint8_t { kNumber, kReal, kString, kConstant, kBinary, kOther };
struct FieldInfo {
  std::string_view name;  // without the names of the structs around it
  std::string_view type;
  FieldKind kind = FieldKind::kOther;
};

class ChunkReader;

// Fields of structs within an event count as its own: "heapSpace.reservedSize". Valid during Visitor::event().
class EventView {
 public:
  union Slot {
    int64_t number;
    double real;
    const uint8_t* at;
  };
  // What ChunkReader fills in: one kind and one slot per field.
  EventView(const ChunkReader& chunk, TypeIndex type, Nanos start, std::span<const FieldKind> kinds, const Slot* slots)
      : chunk_(chunk), type_(type), start_(start), kinds_(kinds), slots_(slots) {}

  [[nodiscard]] TypeIndex type() const { return type_; }
  // Nanoseconds since the epoch, from the chunk's ticks.
  [[nodiscard]] Nanos start() const { return start_; }
  // 0, false, empty or no key if the field is absent, null or of another kind. Tick fields come as nanoseconds.
  [[nodiscard]] int64_t number(FieldIndex field) const {
    return has(field, FieldKind::kNumber) ? slot(field).number : 0;
  }
  [[nodiscard]] double real(FieldIndex field) const { return has(field, FieldKind::kReal) ? slot(field).real : 0; }
  [[nodiscard]] ConstantKey constant(FieldIndex field) const {
    return {has(field, FieldKind::kConstant) ? slot(field).number : 0};
  }
  // An array of bytes.
  [[nodiscard]] std::span<const uint8_t> binary(FieldIndex field) const;
  // Also of constants that are just a string, like a thread's state.
  [[nodiscard]] std::string_view string(FieldIndex field) const;

 private:
  [[nodiscard]] bool has(FieldIndex field, FieldKind kind) const {
    const auto i = static_cast<size_t>(field.index);
    return i < kinds_.size() && kinds_[i] == kind;
  }
  [[nodiscard]] const Slot& slot(FieldIndex field) const { return slots_[field.index]; }

  const ChunkReader& chunk_;
  TypeIndex type_;
  Nanos start_;
  std::span<const FieldKind> kinds_;
  const Slot* slots_;
};

class Chunk {
 public:
  virtual ~Chunk() = default;
  [[nodiscard]] virtual Nanos start() const = 0;  // since the epoch
  // The same moment on the clock that stamped the events: CLOCK_MONOTONIC in recordings of ours.
  [[nodiscard]] virtual Nanos clock_start() const = 0;
  [[nodiscard]] virtual Nanos duration() const = 0;  // as its header says; 0 if unfinished

  // By name, e.g. "jdk.ExecutionSample"; no index if this chunk does not know it.
  [[nodiscard]] virtual TypeIndex type(std::string_view name) const = 0;
  [[nodiscard]] virtual std::string_view type_name(TypeIndex type) const = 0;
  // The type's id in the file, by which jdk.ActiveSetting refers to it; -1 if there is no such type.
  [[nodiscard]] virtual int64_t type_id(TypeIndex type) const = 0;
  [[nodiscard]] virtual std::vector<TypeIndex> event_types() const = 0;
  [[nodiscard]] virtual FieldIndex field(TypeIndex type, std::string_view name) const = 0;
  [[nodiscard]] virtual std::vector<FieldInfo> fields(TypeIndex type) const = 0;  // by FieldIndex
  // Events of unselected types are skipped by their size.
  virtual void select(TypeIndex type) = 0;

  // Constants. False if the key is unknown, or its value damaged.
  virtual bool stack(ConstantKey key, StackView& out) const = 0;
  virtual bool method(ConstantKey key, MethodView& out) const = 0;
  virtual bool thread(ConstantKey key, ThreadInfo& out) const = 0;
  // The class's name with slashes, for fields of type java.lang.Class.
  virtual bool class_name(ConstantKey key, std::string_view& out) const = 0;
};

class Visitor {
 public:
  virtual ~Visitor() = default;
  virtual void chunk(Chunk& chunk) = 0;
  virtual void event(const Chunk& chunk, const EventView& event) = 0;
  // Every few megabytes, and after each chunk: how much of the file is behind us. Not of a file that is being written.
  virtual void passed(uint64_t /*bytes*/, uint64_t /*of_all*/) {}
};

struct ReadSummary {
  uint64_t chunks = 0;
  uint64_t damaged_chunks = 0;
  uint64_t events = 0;  // of all types
  uint64_t events_visited = 0;
  uint64_t bytes = 0;
  std::vector<std::string> problems;  // each names the place and what was skipped; at most 20
};

class Recording {
 public:
  // Fails if the file can't be opened or has no JFR chunk at its start.
  static Result<std::unique_ptr<Recording>> open(const std::string& path);
  static Result<std::unique_ptr<Recording>> over(std::span<const uint8_t> bytes);  // not owned
  virtual ~Recording() = default;
  // Fails only if no chunk could be read at all.
  virtual Result<ReadSummary> read(Visitor& visitor) = 0;
};

}  // namespace tarsier::recording
