// Writes a JFR recording that is valid for the JDK's own readers at every moment, also after kill -9 (how: see
// docs/recording.md, "Flushing"). For one background thread; nothing here is called by an application's thread.
//
// Contract
// - Events and constants are buffered and reach the file at flush() (about once a second) or when the buffer is full.
// - Ids of constants stay valid until the writer is destroyed; which chunk already holds them is the writer's business.
//   When the tables have grown past Options::memory at a flush(), the chunk is rotated, all of them are forgotten and
//   generation() changes: ids given out before, and stacks encoded, must not be used after that. Flush early if
//   memory_used() says so.
// - Of a file that is read and freed while it is written, Options::most_on_disk bounds what nobody has freed yet. While
//   there is more, events are counted as unread instead of written; it goes on when the reader does.
// - When the disk fails, the first error is remembered, later writes are counted as lost, and nothing throws or blocks
//   the caller beyond the write itself. What is on disk stays readable.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "base/unique_fd.h"
#include "base/units.h"
#include "recording/constants.h"
#include "recording/encoded_stack.h"
#include "recording/events.h"

namespace tarsier::recording {

// A field's value; which alternative belongs to which Kind is checked by an assertion in debug builds.
// Strings: std::string_view, nullptr data means null. Numbers, bools and thread states: int64_t.
enum class ThreadState : uint8_t { kRunnable, kSleeping, kCount };
using Binary = std::span<const uint8_t>;  // not in sticky events
using Value = std::variant<int64_t, std::string_view, ThreadId, StackId, ClassId, Binary, float>;

// A number that is not known, as JFR has it.
constexpr int64_t kUnknown = INT64_MIN;

class Writer {
 public:
  struct Options {
    Bytes chunk_size{256 << 20};
    Nanos chunk_age{seconds(3600)};
    Bytes memory{32 << 20};
    Bytes most_on_disk{0};  // 0: no bound. Much more than `memory`: constants of the current chunk can't be freed
    // Called after each single write to the file with the step's name; tests copy the file there.
    std::function<void(const char* step)> after_step;
  };

  // Takes over an empty, writable, seekable regular file.
  static Result<std::unique_ptr<Writer>> open(unique_fd file, Options options);
  virtual ~Writer() = default;

  // As the JVM writes it, with slashes: java/lang/String; arrays as descriptors: [B, [Ljava/lang/String;
  virtual ClassId klass(std::string_view name) = 0;
  virtual MethodId method(const MethodInfo& info) = 0;
  virtual StackId stack(std::span<const Frame> frames, bool truncated) = 0;  // innermost frame first
  // The same, of a stack that is kept for the next one. `frame`: its new innermost one.
  virtual void add(EncodedStack& stack, const Frame& frame) = 0;
  virtual StackId stack(std::span<const Frame> inner, EncodedStack& frames, std::span<const Frame> outer,
                        bool truncated) = 0;
  // One id per (os_id, java_id); calling again with another name renames: later events carry the new name.
  virtual ThreadId thread(const ThreadInfo& info) = 0;

  // `start` in CLOCK_MONOTONIC ns. One value per field of the table, in its order.
  virtual void event(Event type, Nanos start, std::span<const Value> values) = 0;
  // The same, but repeated at the start of every later chunk, so that each chunk can be read alone.
  // `key` tells which earlier sticky event of that type it replaces.
  virtual void sticky_event(Event type, std::string_view key, Nanos start, std::span<const Value> values) = 0;

  virtual Status flush() = 0;
  // Flushes, trims the file to its content and closes it.
  virtual Status finish() = 0;

  [[nodiscard]] uint64_t generation() const { return generation_; }
  [[nodiscard]] virtual uint64_t lost_events() const = 0;  // not in the file because of a disk error
  [[nodiscard]] virtual uint64_t lost_events(Event type) const = 0;
  [[nodiscard]] virtual uint64_t unread_events() const = 0;  // not in the file because its reader is too far behind
  [[nodiscard]] virtual uint64_t unread_events(Event type) const = 0;
  [[nodiscard]] virtual Bytes bytes_written() const = 0;
  [[nodiscard]] virtual Bytes memory_used() const = 0;

 protected:
  uint64_t generation_ = 0;  // asked for with every event: not by a virtual call
};

}  // namespace tarsier::recording
