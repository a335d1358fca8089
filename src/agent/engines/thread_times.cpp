#include "agent/engines/thread_times.h"

#include "base/clock.h"

namespace tarsier::agent {

using recording::TimePart;

ThreadTimes times_of(uint32_t serial, const WaitAccount& account) {
  ThreadTimes times;
  times.serial = serial;
  times.of(TimePart::kCpu).time = account.cpu();
  times.of(TimePart::kQueue).time = account.queued();
  times.of(TimePart::kWaits) = account.sums().written;
  times.of(TimePart::kShortWaits) = account.sums().shorter;
  times.of(TimePart::kLongWaits) = account.sums().longer;
  times.of(TimePart::kMissedWaits) = account.sums().missed;
  if (const auto& open = account.open()) times.of(TimePart::kOpenWait) = {open->length, 1};
  return times;
}

void write(EngineContext& context, const ThreadTimes& times) {
  const auto thread = context.threads.find(times.serial);
  if (!thread) return;
  const recording::ThreadId id = context.writer.thread(thread->info());
  const Nanos now = monotonic_now();
  for (size_t i = 0; i < times.parts.size(); ++i) {
    const recording::Value values[] = {id, recording::kTimePartNames[i], times.parts[i].time.count,
                                       static_cast<int64_t>(times.parts[i].count)};
    context.writer.event(recording::Event::kThreadTime, now, values);
  }
}

}  // namespace tarsier::agent
