#include "agent/engines/thread_times.h"

#include "base/clock.h"
#include "recording/thread_time.h"

namespace tarsier::agent {

void write_thread_times(EngineContext& context, uint32_t serial, const WaitAccount& account) {
  const auto thread = context.threads.find(serial);
  if (!thread) return;
  const recording::ThreadId id = context.writer.thread(thread->info());
  const Nanos now = monotonic_now();
  const auto write = [&](recording::TimePart part, const WaitAccount::Sum& sum) {
    const recording::Value values[] = {id, recording::kTimePartNames[static_cast<size_t>(part)], sum.time.count,
                                       static_cast<int64_t>(sum.count)};
    context.writer.event(recording::Event::kThreadTime, now, values);
  };
  using recording::TimePart;
  const WaitAccount::Sums& sums = account.sums();
  write(TimePart::kCpu, {account.cpu()});
  write(TimePart::kQueue, {account.queued()});
  write(TimePart::kWaits, sums.written);
  write(TimePart::kShortWaits, sums.shorter);
  write(TimePart::kLongWaits, sums.longer);
  write(TimePart::kMissedWaits, sums.missed);
  const auto& open = account.open();
  write(TimePart::kOpenWait, {open ? open->length : Nanos(0), open ? 1U : 0U});
}

}  // namespace tarsier::agent
