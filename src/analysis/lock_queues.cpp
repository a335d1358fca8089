#include "analysis/lock_queues.h"

#include <algorithm>
#include <vector>

namespace tarsier::analysis {
namespace {

void add_stretch(LockQueue& queue, const LockQueue::Convoy& stretch) {
  queue.busy_ns += stretch.end_ns - stretch.begin_ns;
  if (stretch.hand_overs < kManyHandOvers) return;
  queue.convoys += 1;
  queue.convoy_ns += stretch.end_ns - stretch.begin_ns;
  if (stretch.hand_overs > queue.longest.hand_overs) queue.longest = stretch;
}

}  // namespace

LockQueue lock_queue(std::span<const BlockedSpan> blocked) {
  LockQueue queue;
  std::vector<int64_t> ends;
  ends.reserve(blocked.size());
  for (const BlockedSpan& span : blocked) {
    queue.queued_ns += span.end_ns - span.begin_ns;
    ends.push_back(span.end_ns);
  }
  std::sort(ends.begin(), ends.end());
  size_t begun = 0, ended = 0;
  LockQueue::Convoy stretch;
  while (ended < ends.size()) {
    if (begun == ended) stretch = {.begin_ns = blocked[begun].begin_ns};
    // Who comes at the moment at which another one goes finds the queue not empty.
    if (begun < blocked.size() && blocked[begun].begin_ns <= ends[ended]) {
      ++begun;
      queue.most = std::max(queue.most, static_cast<uint32_t>(begun - ended));
      continue;
    }
    stretch.end_ns = ends[ended++];
    stretch.hand_overs += 1;
    if (begun == ended) add_stretch(queue, stretch);
  }
  return queue;
}

}  // namespace tarsier::analysis
