// What application threads write about locks, and the session thread reads: events of a fixed size in buffers of the
// threads' own, and, through rings, the names of locks and the stacks of call chains, each of which comes once.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

namespace tarsier::agent {

enum class LockAct : uint8_t {
  kBlocked,   // by a monitor
  kEntered,   // it, at last
  kExit,      // it was released, seen by its owner
  kUnlocked,  // the same, seen when it had been released
  kWaits,     // released by Object.wait
  kPark,
  kParked,  // the park is over
  kUnpark,
};

struct LockRecord {
  uint64_t time_ns;  // CLOCK_MONOTONIC
  uint64_t object;   // ObjectMonitor*; of a park its timeout, a jlong
  // kBlocked: the monitor's owner then, kExit and kUnlocked: afterwards, as the JVM writes it; kPark: id of the thread
  // that held the lock; kUnpark: of the target.
  uint64_t other;
  uint64_t generation;  // of the monitor
  uint64_t sequence;
  int64_t virtual_id;  // of the virtual thread; 0: it was the thread itself
  uint32_t thread;     // serial
  uint32_t chain;      // its number; 0: none
  uint32_t lock;       // number of its name; 0: none
  LockAct act;
  bool is_deadline;  // of a park: `object` is a time, not a span
  bool after_wait;   // of kBlocked: since it was notified
};
static_assert(sizeof(LockRecord) == 64);

// In the ring of names; `text_bytes` of the class's signature follow.
struct LockName {
  uint32_t number;
  int32_t identity;  // hash
  uint32_t text_bytes;
  uint32_t unused;

  [[nodiscard]] std::string_view text() const { return {reinterpret_cast<const char*>(this + 1), text_bytes}; }
};

// Numbers of chains, told from serials of threads by this bit.
constexpr uint32_t kChainBit = uint32_t{1} << 31;

struct LockCounters {
  std::atomic<uint64_t> taken{0};  // what makes an event: see LockCapture
  std::atomic<uint64_t> no_buffer{0}, unknown_thread{0};
  std::atomic<uint64_t> begins_lost{0};
  std::atomic<uint64_t> passed_over{0};  // releases, soon after one of the same owner
  std::atomic<uint64_t> chains_found{0}, chains_new{0}, chains_unknown{0}, chains_lost{0};
  std::atomic<uint64_t> frames{0};
  std::atomic<uint64_t> names_lost{0}, monitors_lost{0};
  std::atomic<uint64_t> measured{0}, measured_ns{0};  // calls of ours in application threads, and their time
};

}  // namespace tarsier::agent
