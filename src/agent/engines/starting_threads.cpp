#include "agent/engines/starting_threads.h"

#include <utility>

namespace tarsier::agent {

void StartingThreads::started(pid_t tid, uint32_t serial) {
  const std::lock_guard guard(lock_);
  known_[tid] = {serial, 0};
}

void StartingThreads::ended(pid_t tid, uint64_t now_ns) {
  const std::lock_guard guard(lock_);
  const auto it = known_.find(tid);
  if (it == known_.end()) return;
  it->second.ended_ns = now_ns;
  ended_.push_back(tid);
}

std::optional<uint32_t> StartingThreads::owner(pid_t tid, uint64_t time_ns) {
  const std::lock_guard guard(lock_);
  const auto it = known_.find(tid);
  if (it == known_.end() || (it->second.ended_ns != 0 && time_ns > it->second.ended_ns)) return std::nullopt;
  return it->second.serial;
}

void StartingThreads::keep(pid_t tid, uint64_t time_ns, std::span<const uint8_t> record) {
  if (kept_.size() < kMostKept) kept_.push_back({tid, time_ns, {record.begin(), record.end()}});
}

void StartingThreads::forget_ended() {
  const std::lock_guard guard(lock_);
  for (const pid_t tid : ended_before_) {
    const auto it = known_.find(tid);
    if (it != known_.end() && it->second.ended_ns != 0) known_.erase(it);
  }
  ended_before_ = std::exchange(ended_, {});
}

}  // namespace tarsier::agent
