#include "serve/reading.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/clock.h"

namespace tarsier::serve {

void Schedule::looked(Nanos began, Nanos ended) {
  const Nanos so_far = ended - begin_;
  const Nanos cost = ended - began;
  // Twice as much of the recording, and three times of what the look took.
  next_ = ended + Nanos(std::max(so_far.count, 3 * cost.count));
}

Reading::Reading(ReadingSteps steps, Content& content)
    : steps_(std::move(steps)), content_(content), thread_([this] { read(); }) {}

bool Reading::wait(Nanos time) const {
  std::unique_lock lock(mutex_);
  return ended_now_.wait_for(lock, std::chrono::nanoseconds(time.count), [this] { return ended_; });
}

Result<analysis::Model> Reading::load_and_show() {
  Schedule schedule(monotonic_now());
  auto model = steps_.load([&](const analysis::SoFar& so_far) {
    const Nanos now = monotonic_now();
    if (!schedule.due(now)) return content_.reading(so_far.done());
    so_far.look([&](const analysis::Model& growing) {
      // What can't be shown yet may be shown the next time; of the whole it will be told.
      if (auto parts = steps_.parts(growing, so_far.done())) content_.renew(*std::move(parts), so_far.done());
    });
    schedule.looked(now, monotonic_now());
  });
  if (!model) return model;
  auto parts = steps_.parts(*model, 1);
  if (!parts) return std::move(parts).error();
  content_.ready(*std::move(parts));
  return model;
}

void Reading::read() {
  const auto model = load_and_show();
  if (!model) content_.fail(model.error().what);
  steps_.ended(model);
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ended_now_.notify_all();
  if (model) content_.compress();
  over_.store(true, std::memory_order_release);
}

}  // namespace tarsier::serve
