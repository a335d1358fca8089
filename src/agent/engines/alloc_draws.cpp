#include "agent/engines/alloc_draws.h"

#include <algorithm>

#include "agent/engines/alloc_weight.h"

namespace tarsier::agent {
namespace {

constexpr int64_t kFiner = 16;
constexpr int64_t kFinest = 1 << 10;  // finer than that nothing is gained
constexpr int64_t kLarge = 16 << 10;  // an object leaves its TLAB only if it exceeds 1/64 of it
constexpr int64_t kDecideAfter = 64 << 20;
constexpr int64_t kMiscounted = 512 << 10;  // bytes that one object outside brings into disorder, about half a TLAB

}  // namespace

AllocDraws::AllocDraws(int64_t wanted, int64_t before, uint32_t newest, bool miscounts)
    : wanted_(wanted),
      fine_(miscounts ? std::min(wanted, std::max(wanted / kFiner, kFinest)) : wanted),
      current_(fine_),
      eras_{{{newest, before}}} {}

int64_t AllocDraws::first_of(uint32_t thread) const noexcept {
  const size_t count = era_count_.load(std::memory_order_acquire);
  for (size_t i = 0; i < count && thread != 0; ++i) {
    if (thread <= eras_[i].newest) return eras_[i].interval;
  }
  return current();
}

void AllocDraws::saw(int64_t size, int64_t drawn_with) noexcept {
  if (fine_ == wanted_) return;
  const int64_t weight = alloc_weight(size, alloc_probability(size, drawn_with), drawn_with);
  bytes_.fetch_add(weight, std::memory_order_relaxed);
  if (size < kLarge) return;
  large_bytes_.fetch_add(weight, std::memory_order_relaxed);
  large_objects_.fetch_add(weight / size, std::memory_order_relaxed);
}

bool AllocDraws::adapt(uint32_t newest) {
  if (fine_ == wanted_ || bytes_.load(std::memory_order_relaxed) < kDecideAfter) return false;
  const int64_t bytes = bytes_.exchange(0, std::memory_order_relaxed);
  const int64_t large_bytes = large_bytes_.exchange(0, std::memory_order_relaxed);
  const int64_t large_objects = large_objects_.exchange(0, std::memory_order_relaxed);
  // More than 2 % may be wrong one way or the other.
  const bool matters = large_bytes > bytes / 50 || large_objects * kMiscounted > bytes / 50;
  const size_t count = era_count_.load(std::memory_order_relaxed);
  const int64_t next = matters ? fine_ : wanted_;
  // The last era stays free, so that an undecided program ends with the finer interval.
  if (next == current() || (count + 1 >= kMaxEras && next != fine_) || count == kMaxEras) return false;
  eras_[count] = {newest, current()};
  era_count_.store(count + 1, std::memory_order_release);
  current_.store(next, std::memory_order_relaxed);
  return true;
}

}  // namespace tarsier::agent
