// Threads that wait for one another in a circle, and how we make sure that they do. Knows no JVM.
//
// Who waits for whom is read of one thread after the other, while all of them run: what is read of the first may be
// over when the last is read, and together it may look like a circle that never was. So a circle counts only if each of
// its waits is found unchanged, time and again.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "base/units.h"

namespace tarsier::agent {

// A thread that waits, without an end, for a lock that somebody holds.
struct LockWait {
  int64_t thread = 0, owner = 0;  // ids of Java
  bool is_monitor = false;
  uint64_t lock = 0;  // the address of the JVM's monitor; otherwise the identity of the object
  bool operator==(const LockWait&) const = default;
  bool operator<(const LockWait& other) const {
    return std::tie(thread, owner, is_monitor, lock) <
           std::tie(other.thread, other.owner, other.is_monitor, other.lock);
  }
};

class WaitSource {
 public:
  virtual ~WaitSource() = default;
  virtual std::vector<LockWait> all() = 0;
  // Once more, of a thread that all() has named.
  virtual std::optional<LockWait> of(int64_t thread) = 0;
};

// Each waits for what the next one holds, and the last for what the first holds.
using DeadlockCycle = std::vector<LockWait>;

class DeadlockFinder {
 public:
  using Sleep = std::function<void(Nanos)>;
  explicit DeadlockFinder(Sleep sleep) : sleep_(std::move(sleep)) {}

  // Those that were not there before. Sleeps some milliseconds if there seem to be any.
  std::vector<DeadlockCycle> look(WaitSource& source);

 private:
  bool stays(const DeadlockCycle& cycle, WaitSource& source) const;

  Sleep sleep_;
  std::set<DeadlockCycle> known_;
};

}  // namespace tarsier::agent
