// Turns what threads wrote about locks into events of the recording: begin and end of a blocked time are put together,
// numbers of chains, locks and threads become constants. Session thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "agent/engines/engine.h"
#include "agent/engines/fragment_decoder.h"
#include "agent/engines/lock_capture.h"
#include "agent/engines/lock_records.h"

namespace tarsier::agent {

class LockDecoder {
 public:
  // `owner_is_id`: see LockThreads::owner_of().
  LockDecoder(EngineContext& context, FragmentDecoder& stacks, LockCapture& capture, bool owner_is_id)
      : context_(context), stacks_(stacks), capture_(capture), owner_is_id_(owner_is_id) {}

  void name(const LockName& name);
  void chain(const capture::FragmentRecord& record);
  void event(const LockRecord& record);
  // Those whose end has not come when the recording ends.
  void write_ongoing();
  void ongoing_park(const LockRecord& record);
  void ongoing_hold(const LockRecord& record);
  // What was written until then has all been seen.
  void seen_until(Nanos time);

  struct Counts {
    uint64_t written = 0;   // events, of those that were taken
    uint64_t failed = 0;    // of them: without a stack
    uint64_t no_begin = 0;  // taken, but where it began is not known
    uint64_t ongoing = 0;   // written, and not taken
    uint64_t monitors = 0, exits = 0, waits = 0, parks = 0, unparks = 0, holds = 0;
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  struct Lock {
    uint32_t klass = 0;  // of classes_
    int32_t identity = 0;
  };
  struct Class {
    std::string name;
    recording::ClassId id{};  // 0: not asked for yet
  };
  struct Chain {
    recording::StackId stack;
    std::string failure;
  };
  using Key = uint64_t;  // of a thread, virtual or not
  static Key key_of(const LockRecord& record);
  // The last of each thread, over or not: most threads will have another one, and need no new memory for it.
  struct Begin {
    LockRecord record{};
    bool open = false;
  };
  struct Begins {
    static constexpr size_t kMany = 4096;
    std::unordered_map<Key, Begin> of;
    size_t most = kMany;  // then those that are over go
  };

  void start_over_if_forgotten();
  const Chain& chain_of(uint32_t number);
  uint32_t class_number(std::string_view name);
  void forget_older_locks();
  [[nodiscard]] Lock lock_of(uint32_t number) const;
  [[nodiscard]] recording::ClassId class_of(uint32_t lock);
  [[nodiscard]] int64_t identity_of(uint32_t lock) const { return lock_of(lock).identity; }
  recording::ThreadId thread_of(const LockRecord& record);
  recording::ThreadId carrier_of(const LockRecord& record);
  recording::ThreadId previous_owner_of(const LockRecord& begin);
  recording::ThreadId next_owner_of(const LockRecord& release);
  recording::ThreadId thread_by_java_id(int64_t id);
  void take(const LockRecord& record);
  void begins(Begins& begins, const LockRecord& record);
  void ends(Begins& begins, const LockRecord& record);
  void write_pair(const LockRecord& begin, const LockRecord* end);
  void write_blocked(const LockRecord& begin, const LockRecord* end);
  void write_exit(const LockRecord& record);
  void write_wait(const LockRecord& record);
  // Until then, and how it ended; nothing: it has not.
  void write_park(const LockRecord& begin, std::optional<Nanos> end, LockEnd how);
  void write_unpark(const LockRecord& record);
  void write_hold(const LockRecord& record, bool ongoing);
  void count(const Chain& chain);

  EngineContext& context_;
  FragmentDecoder& stacks_;
  LockCapture& capture_;
  const bool owner_is_id_;
  uint64_t generation_ = ~uint64_t{0};  // of the writer's ids below
  std::vector<Lock> locks_;             // by number, from first_lock_ on
  uint32_t first_lock_ = 1;
  std::vector<Class> classes_{1};  // 0: not known
  std::unordered_map<std::string, uint32_t> class_numbers_;
  std::unordered_map<uint32_t, Chain> chains_;
  // Those that were asked for last, by their number, and the serials of threads, by their Java id.
  template <class Number, class Value>
  struct Recent {
    Number number{};
    Value value{};
  };
  std::array<Recent<uint32_t, const Chain*>, 1024> recent_chains_{};
  std::array<Recent<int64_t, uint32_t>, 256> recent_serials_{};
  std::vector<uint32_t> kept_, kept_before_;  // numbers of chains
  Begins blocked_, parks_;
  // Of virtual threads, which change their carriers and so the buffers: not in the order in which they were written.
  std::vector<LockRecord> unordered_;
  // Before 24 the JVM knows carriers as owners only: of these, by serial, who released a monitor last.
  struct Release {
    int64_t virtual_id;
    uint64_t time_ns;
  };
  std::unordered_map<uint32_t, Release> last_release_;
  bool has_virtual_ = false;
  int64_t last_park_or_unpark_ = 0;  // its number
  Counts counts_;
};

}  // namespace tarsier::agent
