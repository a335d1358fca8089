// The account of one thread's time, from looks at it: how long it ran, stood in the run queue, and waited; and when a
// wait that was seen has ended, and how long it was. Pure arithmetic.
//
// What a thread has slept in all is known exactly at every look: the time since the first look, less what it ran, less
// what it spent in the run queue. So is how often it has gone to sleep. Only if several waits began or ended between
// two looks their lengths are not known one by one: they then share that time evenly, which is right on average,
// since looks fall anywhere.
#pragma once

#include <cstdint>
#include <optional>

#include "base/units.h"

namespace tarsier::agent {

// One look at a thread that either sleeps or has a CPU: of one that stands in the run queue nobody knows since when.
struct ThreadLook {
  Nanos at;  // CLOCK_MONOTONIC
  Nanos cpu;
  Nanos queued;
  uint64_t waits = 0;  // begun so far
  bool asleep = false;
};

struct WaitLimits {
  Nanos min;  // shorter waits are only summed up
  Nanos max;  // longer ones, too; 0: there are none
};

class WaitAccount {
 public:
  struct Wait {
    Nanos began;
    Nanos length;
    bool from_before = false;  // it went on already at the first look
  };
  struct Sum {
    Nanos time;
    uint64_t count = 0;
    void add(Nanos length, uint64_t how_many = 1) {
      time += length;
      count += how_many;
    }
  };
  struct Sums {
    Sum written, shorter, longer, missed;
  };

  WaitAccount(const WaitLimits& limits, const ThreadLook& first);

  // The wait that was open at the last look, if it is over. It is up to the caller to settle it.
  std::optional<Wait> update(const ThreadLook& look);
  // A look that has found that it has not run since the last one: as far as one can see it is still in the open wait.
  // If it was already woken and stands in the run queue, the next update() makes that good.
  void sleeps_on(Nanos now);
  // The wait that goes on since some look, as long as it was at the last one.
  [[nodiscard]] const std::optional<Wait>& open() const { return open_; }
  void forget_open() { open_.reset(); }

  // Neither too short nor too long for an event of its own.
  [[nodiscard]] bool deserves_event(const Wait& wait) const {
    return wait.length >= limits_.min && (limits_.max.count == 0 || wait.length <= limits_.max);
  }
  // Into the sums: `written` counts only for waits that deserve it.
  void settle(const Wait& wait, bool written);

  [[nodiscard]] const ThreadLook& last() const { return last_; }
  [[nodiscard]] Nanos cpu() const { return last_.cpu - first_.cpu; }
  [[nodiscard]] Nanos queued() const { return last_.queued - first_.queued; }
  [[nodiscard]] const Sums& sums() const { return sums_; }

 private:
  Nanos take_what_was_slept(const ThreadLook& look);
  [[nodiscard]] static Nanos slept(const ThreadLook& look) { return look.at - look.cpu - look.queued; }

  WaitLimits limits_;
  ThreadLook first_, last_;
  Nanos shared_out_;  // of what it has slept since the first look
  std::optional<Wait> open_;
  Sums sums_;
};

}  // namespace tarsier::agent
