// The constants of a recording while it is written: everything is interned once, and goes into a chunk's next
// checkpoint when an event of that chunk first refers to it.
//
// Keys in the file are never used twice, also not for a renamed thread or after forget(): the JDK's reader takes a
// constant whose key it has seen in the chunk before from there, without looking at its value.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "recording/constants.h"
#include "recording/encoded_stack.h"
#include "recording/encoder.h"
#include "recording/interner.h"
#include "recording/type_ids.h"

namespace tarsier::recording {

// Where in an Encoder a checkpoint lies; its delta, nine bytes, is filled in when its place in the file is known.
struct Checkpoint {
  size_t at = 0;
  size_t delta_at = 0;
};

// The names that never change: FrameType and ThreadState. Every chunk starts with them.
Checkpoint encode_static_constants(Encoder& out, Nanos now);
constexpr uint64_t key_of(FrameType type) {
  return static_cast<uint64_t>(type) + 1;
}

class ConstantTables {
 public:
  ClassId klass(std::string_view name) { return ClassId(class_of(name) + 1); }
  MethodId method(const MethodInfo& info);
  StackId stack(std::span<const Frame> frames, bool truncated) { return stack(frames, no_frames_, {}, truncated); }
  void add(EncodedStack& stack, const Frame& frame);
  StackId stack(std::span<const Frame> inner, EncodedStack& frames, std::span<const Frame> outer, bool truncated);
  ThreadId thread(const ThreadInfo& info);

  // The key in the file; from now on this chunk needs the constant. 0, Java's null, for an id that is none.
  uint64_t use(StackId id);
  uint64_t use(ThreadId id);
  uint64_t use(ClassId id);

  void start_chunk();  // nothing is in the new chunk yet
  // All constants that this chunk needs and does not have; they count as written.
  Checkpoint encode_checkpoint(Encoder& out, Nanos now);

  // Empties all tables. Of the threads, those in `keep` survive and get their new id there.
  void forget(std::span<ThreadId* const> keep);
  [[nodiscard]] size_t memory() const;

 private:
  struct Table {
    Interner values;
    std::vector<uint32_t> chunks;     // by index: the last chunk that needed it
    std::vector<uint32_t> unwritten;  // indexes that the current chunk needs
    uint64_t first_key = 1;

    uint32_t intern(std::span<const uint8_t> bytes);
    uint64_t use(uint32_t index, uint32_t chunk);
    void forget();
    [[nodiscard]] size_t memory() const;
  };
  struct Thread {
    std::vector<uint8_t> encoded;  // up to the group
    std::string group;
    bool is_virtual = false;
    uint64_t key = 0;
    uint32_t chunk = 0;
  };

  uint32_t symbol(std::string_view text);
  // Null methods make the JDK's tool fail: there is one in their place.
  uint32_t index_of(MethodId method);
  void encode(const Frame& frame);
  uint32_t group(std::string_view name);
  uint32_t class_of(std::string_view name);
  void use_what_unwritten_constants_need();
  template <class EncodeEntry>
  static void encode_pool(Encoder& out, TypeId type, Table& table, EncodeEntry encode_entry);

  Table symbols_, packages_, classes_, methods_, stacks_, groups_;
  std::vector<uint32_t> methods_used_;  // by the index of a stack: the chunk in which its methods were last used
  Interner thread_ids_;
  std::vector<Thread> threads_;
  Encoder thread_pool_;  // encoded when first used, so that a thread renamed since keeps the old name in old events
  size_t unwritten_threads_ = 0;
  uint64_t next_thread_key_ = 1;
  size_t thread_bytes_ = 0;
  uint32_t chunk_ = 1;
  EncodedStack no_frames_;
  Encoder scratch_;
  std::string text_;
};

}  // namespace tarsier::recording
