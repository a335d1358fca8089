// Locks that several may hold at once, as LockCapture sees them.
#include <algorithm>

#include "agent/engines/lock_local.h"

namespace tarsier::agent {
namespace {

// A hold of a thread, or of a virtual one: place of the lock's name | mode | virtual | id.
constexpr uint64_t kLockBits = 14, kModeBits = 2, kVirtualAt = kLockBits + kModeBits, kIdAt = kVirtualAt + 1;
static_assert(kMostNames == 1 << kLockBits);
static_assert(static_cast<size_t>(HoldMode::kCount) <= size_t{1} << kModeBits);

uint64_t key_of(uint32_t lock, HoldMode mode, uint32_t serial, int64_t virtual_id) noexcept {
  const uint64_t id = virtual_id != 0 ? static_cast<uint64_t>(virtual_id) : serial;
  return lock % kMostNames | static_cast<uint64_t>(mode) << kLockBits | uint64_t{virtual_id != 0} << kVirtualAt |
         id << kIdAt;
}

// Of a hold whose begin is not known: who went on so long ago was not kept waiting by it, as far as we care. Where
// permits are passed on to other threads every release is one of these.
constexpr uint64_t kLongAgoNs = 10'000'000'000;

}  // namespace

bool LockCapture::was_waited_for(uint32_t number, uint64_t since_ns) const noexcept {
  const Named* lock = named(number);
  return lock != nullptr && (lock->waiting.load(std::memory_order_relaxed) != 0 ||
                             lock->waited_until_ns.load(std::memory_order_relaxed) > since_ns);
}

void LockCapture::acquired(int32_t identity, HoldMode mode, int32_t times) noexcept {
  const uint32_t lock = known_names_->find(hash_alone(identity));
  if (lock == 0 || times <= 0) return;
  const Local* mine = enter();
  if (mine == nullptr) return;
  const uint64_t key = key_of(lock, mode, mine->thread->serial, virtual_id_of(mine->thread->java_thread));
  if (!holds_->acquired(key, static_cast<uint32_t>(times), lock_time_ns())) counters_.add(LockCount::kHoldLost);
}

void LockCapture::releasing(int32_t identity, HoldMode mode, int32_t times) noexcept {
  const uint32_t lock = known_names_->find(hash_alone(identity));
  if (lock == 0 || times <= 0) return;
  LockRecord record{};
  record.time_ns = lock_time_ns();
  Local* mine = enter();
  if (mine == nullptr) {
    if (was_waited_for(lock, record.time_ns)) (void)enter_for_event();  // which counts it
    return;
  }
  record.virtual_id = virtual_id_of(mine->thread->java_thread);
  const auto release =
      holds_->released(key_of(lock, mode, mine->thread->serial, record.virtual_id), static_cast<uint32_t>(times));
  if (release.what == HoldTable::Release::What::kStillHeld) return;
  const bool has_begin = release.what == HoldTable::Release::What::kOver;
  // It may have been one for which there was no room: then nobody knows since when it was held.
  if (!has_begin && mode != HoldMode::kLatch && counters_.of(LockCount::kHoldLost) != 0) return;
  if (!was_waited_for(lock, has_begin ? release.begin_ns : record.time_ns - kLongAgoNs)) return;
  const Stopwatch watch(*mine);
  mine->thread->counters.add_alone(LockCount::kTaken);
  record.act = LockAct::kHold;
  record.object = release.begin_ns;
  record.other = static_cast<uint64_t>(mode);
  record.lock = lock;
  record.chain = chain_of(*mine, nullptr);
  write(*mine, record);
}

void LockCapture::add_open_holds(const std::function<void(const LockRecord&)>& add) {
  holds_->for_each([&](uint64_t key, uint64_t begin_ns) {
    LockRecord record{};
    record.act = LockAct::kHold;
    record.time_ns = lock_time_ns();
    record.object = begin_ns;
    record.lock = named_[key % kMostNames].number.load(std::memory_order_relaxed);
    record.other = (key >> kLockBits) & ((1U << kModeBits) - 1);
    const bool is_virtual = ((key >> kVirtualAt) & 1) != 0;
    record.thread = is_virtual ? 0 : static_cast<uint32_t>(key >> kIdAt);
    record.virtual_id = is_virtual ? static_cast<int64_t>(key >> kIdAt) : 0;
    if (was_waited_for(record.lock, begin_ns)) add(record);
  });
}

}  // namespace tarsier::agent
