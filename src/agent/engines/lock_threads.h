// The threads that the lock engine knows: who the calling one is, and who is meant by what the JVM writes as the owner
// of a monitor.
#pragma once

#include <jni.h>
#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "agent/engines/lock_records.h"
#include "agent/engines/still_objects.h"
#include "agent/thread_registry.h"
#include "base/mapping.h"
#include "base/result.h"
#include "capture/thread_table.h"
#include "hotspot/light_walk.h"

namespace tarsier::agent {

// What a thread has found out, and need not again.
struct alignas(64) LockMemo {
  hotspot::LightWalk::Trails trails;
  // What it has parked on, by what the JVM refers to it by.
  struct Blocker {
    StillObjects::Seen seen;
    uint32_t lock;  // number of its name
  };
  std::array<Blocker, 8> blockers;
  Blocker& blocker_at(uint32_t reference) noexcept {
    constexpr uint32_t kSpread = 0x9e3779b1;
    return blockers[(reference * kSpread) >> 29];
  }
};

struct LockThread {
  uint32_t serial = 0;
  const uint8_t* java_thread = nullptr;
  int64_t java_id = 0;
  uint64_t stack_base = 0;
  Nanos started;             // or when it was first seen
  jobject ref = nullptr;     // its Thread
  LockCounters counters;     // by the thread itself
  LockMemo* memo = nullptr;  // its own; null: there are too many threads
  // The thread is parked, and this is what will be written of it. By the thread itself; others look when it can't come
  // here any more.
  std::atomic<bool> is_parked{false};
  LockRecord park{};
};

class LockThreads {
 public:
  [[nodiscard]] Status take_memory();

  // False if it can't be followed.
  bool started(const JavaThread& thread, uint64_t stack_base);
  void ended(const JavaThread& thread);
  // Session thread, about once a second: those are forgotten that have ended before the last call.
  void forget_ended();

  // Waits for nobody. Null: not known; stays until the thread has ended.
  [[nodiscard]] LockThread* find(pid_t tid) const noexcept { return table_->find(tid); }

  // Session thread. Of what the JVM writes as the owner of a monitor: the serial of the thread, or (second) its Java
  // id; 0, 0: nobody that is known. `is_id`: it writes ids; otherwise addresses, of the thread or in its stack, which
  // other threads get when it has ended: so who had it at that time.
  [[nodiscard]] std::pair<uint32_t, int64_t> owner_of(uint64_t owner, bool is_id, Nanos time);
  // Of a platform thread with that Java id; 0: none.
  [[nodiscard]] uint32_t serial_of(int64_t java_id);
  // Session thread, once no thread is recorded any more: parks that are not over.
  [[nodiscard]] std::vector<LockRecord> open_parks();
  // What the threads have counted, adds to it.
  void add_to(LockCounters& sum);

 private:
  Mapping memory_;
  std::optional<capture::ThreadTable<LockThread>> table_;
  std::mutex lock_;  // of what follows
  std::unordered_map<uint32_t, std::unique_ptr<LockThread>> by_serial_;
  std::unordered_map<uint64_t, std::vector<uint32_t>> by_java_thread_;  // in the order in which they started
  std::unordered_map<int64_t, uint32_t> by_java_id_;
  std::vector<uint32_t> ended_, ended_before_;
  LockCounters forgotten_;  // of threads that are
  static constexpr size_t kMostMemos = 4096;
  Mapping memo_memory_;
  std::vector<LockMemo*> unused_memos_;
};

}  // namespace tarsier::agent
