// Who sleeps for a monitor, and who wakes him up, as LockCapture sees it.
#include "agent/engines/lock_local.h"

namespace tarsier::agent {

void LockCapture::sleeps(uint64_t variable) noexcept {
  const Local& mine = local();
  if (mine.session == session_ && mine.entering != nullptr) sleeps_->sleeps(variable, mine.monitor);
}

void LockCapture::slept(uint64_t variable) noexcept {
  // Nobody may have asked: the sleep was too long, or he was wanted for something else.
  const Local& mine = local();
  if (mine.session == session_ && mine.entering != nullptr) (void)sleeps_->take(variable);
}

LockCapture::Release LockCapture::signalling(uint64_t variable) noexcept {
  const uint64_t monitor = sleeps_->take(variable);
  return monitor != 0 ? unlocked(monitor) : Release();
}

}  // namespace tarsier::agent
