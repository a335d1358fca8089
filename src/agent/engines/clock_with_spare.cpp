#include "agent/engines/clock_with_spare.h"

#include <cerrno>

namespace tarsier::agent {

void ClockWithSpare::close() noexcept {
  first_->close();
  if (spare_is_open_) spare_->close();
  spare_is_open_ = false;
}

int ClockWithSpare::start(pid_t tid, capture::ThreadClock& thread) noexcept {
  const int refused = first_->start(tid, thread);
  if (refused == 0 || refused == ESRCH) return refused;
  if (!spare_is_open_) {
    if (spare_->open(*repeats_) != 0) return refused;
    spare_is_open_ = true;
  }
  thread.by_spare = true;  // before its first tick can come
  if (const int err = spare_->start(tid, thread)) {
    thread.by_spare = false;
    return err;
  }
  last_error_.store(refused, std::memory_order_relaxed);
  spared_.fetch_add(1, std::memory_order_relaxed);
  return 0;
}

}  // namespace tarsier::agent
