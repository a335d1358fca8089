// What the names of classes and methods tell about locks: which group a lock belongs to, and which frames of a chain
// are the insides of locking, which nobody wants to read.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/contention.h"
#include "analysis/model.h"

namespace tarsier::analysis {

std::string_view lock_group_name(LockGroup group);  // monitor juc condition other

// Are these locks that are waited for because somebody holds them?
constexpr bool is_lock(LockGroup group) {
  return group == LockGroup::kMonitor || group == LockGroup::kJuc;
}

// Is this method (package.Class.method) an inside of locking?
bool is_inside_of_locking(std::string_view method);

class LockCode {
 public:
  explicit LockCode(const Model& model) : model_(model) { grow(); }
  // What the model has got since.
  void grow();

  // Of what a thread parks on. Of classes that are not known the chain tells: whoever parks in the code of
  // AbstractQueuedSynchronizer waits for a lock made of that.
  [[nodiscard]] LockGroup group_of(LockIndex blocker, StackIndex stack) const;
  // It was parked to get the lock back after waiting for a condition.
  [[nodiscard]] bool after_wait(StackIndex stack) const;
  // It was unparked by a signal of a condition, not by the release of a lock.
  [[nodiscard]] bool is_signal(StackIndex stack) const;
  // The innermost frame that is no inside of locking; the innermost of all if there is no other.
  [[nodiscard]] StackIndex user_frame(StackIndex stack) const;

 private:
  // What of a chain is inside of locking.
  struct Insides {
    StackIndex user_frame;  // 0: all of it is
    uint8_t traits = 0;     // of all those frames
  };

  const Model& model_;
  std::vector<uint8_t> traits_;      // by method
  std::vector<Insides> insides_;     // by stack
  std::vector<LockGroup> of_class_;  // by lock; kCount: not known
};

}  // namespace tarsier::analysis
