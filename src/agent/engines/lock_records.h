// What application threads write about locks, and the session thread reads: events of a fixed size in buffers of the
// threads' own, and, through rings, the names of locks and the stacks of call chains, each of which comes once.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

namespace tarsier::agent {

enum class LockAct : uint8_t {
  kBlocked,     // by a monitor
  kEntered,     // it, at last
  kExit,        // it was released, seen by its owner
  kUnlocked,    // the same, seen when it had been released
  kWaits,       // released by Object.wait
  kWaited,      // Object.wait is over
  kPark,        // it is over
  kParkBegins,  // of a virtual thread, which may go on elsewhere
  kParkEnds,
  kUnpark,
  kHold,  // a lock that several may hold is released, or one whose owner can not be read
};

// How a lock is held. The numbers are those of the calls that lock_detail_rules.cpp puts into classes.
enum class HoldMode : uint8_t { kRead, kWrite, kPermit, kLatch, kCount };

enum class LockEnd : uint8_t { kOther, kTimeout, kInterrupt };

struct LockRecord {
  uint64_t time_ns;  // CLOCK_MONOTONIC
  uint64_t object;   // ObjectMonitor*; of a park its timeout, a jlong; of a hold when it began, 0: not known
  // kBlocked: the monitor's owner then, kExit and kUnlocked: afterwards, as the JVM writes it; kWaited: the serial of
  // the thread that notified; kPark, kParkBegins: id of the thread that held the lock; kUnpark: of the target; kHold:
  // its HoldMode.
  uint64_t other;
  // Of the monitor; kWaited: the timeout, ms; kPark, kParkBegins: number of the name of the lock whose condition it
  // parks on.
  uint64_t generation;
  uint64_t sequence;   // kWaited: how long, ns; kPark: when it was over, as time_ns
  int64_t virtual_id;  // of the virtual thread; 0: it was the thread itself
  uint32_t thread;     // serial
  uint32_t chain;      // its number; 0: none
  uint32_t lock;       // number of its name; 0: none
  LockAct act;
  bool is_deadline;  // of a park: `object` is a time, not a span
  bool after_wait;   // of kBlocked: since it was notified
  LockEnd end;       // of kPark, kParkEnds and kWaited
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

// Those that are counted at every event come first: they share a line of the cache.
enum class LockCount : uint8_t {
  kTaken,  // what makes an event
  kChainKnown,
  kFrames,
  kFramesKnown,    // of these: found as the thread had left them
  kPassedOver,     // releases, soon after one of the same owner
  kNoBuffer,       // of kTaken: dropped
  kUnknownThread,  // the same
  kBeginLost,
  kChainNew,
  kChainUnknown,  // to be decoded each time
  kChainLost,     // no room
  kTrailsTried,   // walks that were not needed, made all the same to see whether they come to the same end
  kTrailsWrong,   // of these: they did not
  kNameLost,
  kMonitorLost,
  kNoMonitor,   // of kTaken, waits: no room for what is known of their monitor
  kHoldLost,    // its begin: no room
  kShortWaits,  // of Object.wait, and their time
  kShortWaitNs,
  kMeasured,  // calls of ours in application threads, and their time
  kMeasuredNs,
  kCount,
};

class LockCounters {
 public:
  // By any thread.
  void add(LockCount count, uint64_t value = 1) noexcept { at(count).fetch_add(value, std::memory_order_relaxed); }
  // By the only thread that counts here: an atomic addition would cost it as much as much of what is counted.
  void add_alone(LockCount count, uint64_t value = 1) noexcept {
    at(count).store(of(count) + value, std::memory_order_relaxed);
  }
  void add(const LockCounters& others) noexcept {
    for (size_t i = 0; i < counts_.size(); ++i) counts_[i].fetch_add(others.counts_[i].load(std::memory_order_relaxed));
  }
  [[nodiscard]] uint64_t of(LockCount count) const noexcept {
    return counts_[static_cast<size_t>(count)].load(std::memory_order_relaxed);
  }

 private:
  [[nodiscard]] std::atomic<uint64_t>& at(LockCount count) noexcept { return counts_[static_cast<size_t>(count)]; }
  std::array<std::atomic<uint64_t>, static_cast<size_t>(LockCount::kCount)> counts_{};
};

}  // namespace tarsier::agent
