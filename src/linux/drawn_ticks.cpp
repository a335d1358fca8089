#include "linux/drawn_ticks.h"

#include <algorithm>

#include "base/clock.h"
#include "base/sigsafe/random_period.h"
#include "linux/bpf_map.h"

namespace tarsier::linux {

DrawnTicks::DrawnTicks(std::vector<CpuTick> ticks, unique_fd periods, Nanos interval)
    : ticks_(std::move(ticks)),
      periods_(std::move(periods)),
      interval_(interval),
      random_(static_cast<uint64_t>(monotonic_now().count) | 1),
      next_draw_(ticks_.size()) {}

Status DrawnTicks::start() {
  const Nanos now = monotonic_now();
  for (size_t i = 0; i < ticks_.size(); ++i) {
    if (Status status = draw(i, now); !status) return status;
  }
  return ticks_.enable();
}

// Each CPU has a period of its own, so they are out of phase from the start on. It keeps it for a number of ticks, not
// for a time: the mean of the periods is then the mean time between samples.
Status DrawnTicks::draw(size_t index, Nanos now) {
  // The timer starts anew, and half a period on average goes without a tick: one in 800 is no loss.
  constexpr int64_t kTicks = 400;
  const uint64_t period = std::max(CpuTicks::kFinestNs, draw_period(static_cast<uint64_t>(interval_.count), random_));
  next_draw_[index] = now + Nanos(static_cast<int64_t>(period)) * kTicks;
  if (Status status = ticks_.set_period(index, period); !status) return status;
  // What a tick stands for. If we are preempted before this, some ticks stand for the old period: as likely too long as
  // too short.
  const int cpu = ticks_.cpu(index);
  if (const int err = set_in_bpf_map(periods_.get(), &cpu, &period)) return errno_error("setting a period", err);
  return {};
}

void DrawnTicks::draw_those_due() {
  const Nanos now = monotonic_now();
  for (size_t i = 0; i < ticks_.size(); ++i) {
    if (next_draw_[i] <= now) (void)draw(i, now);  // else it ticks on as before
  }
}

}  // namespace tarsier::linux
