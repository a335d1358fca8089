#include "linux/thread_gate.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/quiet.h"

namespace tarsier::linux {
namespace {

bool membarrier(int command) noexcept {
  return ::syscall(SYS_membarrier, command, 0, 0) == 0;
}

}  // namespace

void ThreadGate::open() noexcept {
  if (is_open_) return;
  is_open_ = true;
  has_barrier_ = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
  for (Place& place : own_) place.is_own_ = has_barrier_;
}

ThreadGate::Place& ThreadGate::place_of(const void* mine) noexcept {
  const auto address = reinterpret_cast<uintptr_t>(mine);
  // Such addresses differ in their upper bits only.
  const size_t hash = (address * 0x9e3779b97f4a7c15ULL) >> 32;
  for (size_t i = 0; i < kProbes; ++i) {
    Place& place = own_[(hash + i) % kOwn];
    uintptr_t there = place.thread_.load(std::memory_order_relaxed);
    if (there == address) return place;
    if (there == 0 && place.thread_.compare_exchange_strong(there, address, std::memory_order_relaxed)) return place;
  }
  return shared_[hash % kShared];
}

void ThreadGate::wait_until_left() const noexcept {
  // It can't fail where it has worked; if it did, waiting would be all that is left.
  while (has_barrier_ && !membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) ::usleep(1000);
  for (const Place& place : own_) {
    const uint32_t seen = place.passes_.load(std::memory_order_seq_cst);
    if (!place.is_own_) {
      wait_until([&] { return place.passes_.load(std::memory_order_acquire) == 0; });
    } else if (seen % 2 == 1) {
      wait_until([&] { return place.passes_.load(std::memory_order_acquire) != seen; });
    }
  }
  for (const Place& place : shared_) {
    wait_until([&] { return place.passes_.load(std::memory_order_seq_cst) == 0; });
  }
}

}  // namespace tarsier::linux
