// Who suffered from what the hypervisor took: all of it, split over whoever used a CPU meanwhile, in proportion to the
// CPU time that they appeared to use. Pure arithmetic.
//
// The kernel tells how much was stolen, and how long all CPUs were busy, in ticks of 10 ms. What is split is therefore
// the sum over some of them, however often one looks.
#pragma once

#include <span>
#include <string>

#include "base/units.h"
#include "linux/machine_times.h"

namespace tarsier::agent {

// What threads have lost of what was stolen: dt_steal(T) = dt_steal,total * dt_cpu(T) / dt_cpu,total. Answers the sum.
// `whole`: the CPU time of everybody on this machine; if the threads alone have used more, it is theirs.
Nanos split_steal(Nanos stolen, Nanos whole, std::span<const Nanos> cpu, std::span<Nanos> out);

class StealAccount {
 public:
  struct Sums {
    Nanos busy, idle, stolen;
    Nanos of_threads, of_others, of_nobody;  // which it is the sum of
  };

  explicit StealAccount(const linux::MachineTimes& first, Nanos now)
      : last_(first), settled_(first), settled_at_(now) {}

  // Stolen time is part of what threads appear to use. (It never is of MachineTimes::busy.)
  void set_included(bool included) { included_ = included; }
  [[nodiscard]] bool included() const { return included_; }

  // Clocks that go backwards stand still.
  void look(const linux::MachineTimes& now);
  // Is there enough to be split, or a second over?
  [[nodiscard]] bool is_due(Nanos now) const;
  // `cpu`: of each thread of this process since the last settling. `out`: what each has lost.
  void settle(Nanos now, std::span<const Nanos> cpu, std::span<Nanos> out);

  [[nodiscard]] const Sums& sums() const { return sums_; }

 private:
  bool included_ = false;
  linux::MachineTimes last_;     // as of the last look
  linux::MachineTimes settled_;  // what has been settled up to
  Nanos settled_at_;
  Sums sums_;
};

}  // namespace tarsier::agent
