#include "capture/pause_capture.h"

#include <cstring>

namespace tarsier::capture {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
// Nobody nests as deep: ends are missing.
constexpr int32_t kDeepest = 16;

int64_t value_of(const int64_t* counter) noexcept {
  return counter == nullptr ? 0 : __atomic_load_n(counter, __ATOMIC_RELAXED);
}

// As much as there is room for; what it does not fill stays 0.
void copy_text(char* out, size_t room, const char* from, size_t size) noexcept {
  for (size_t i = 0; i < room && i < size; ++i) {
    const char c = __atomic_load_n(from + i, __ATOMIC_RELAXED);
    if (c == '\0') return;
    out[i] = c;
  }
}

bool says_none(const char* cause) noexcept {
  constexpr char kNone[] = "No GC";
  return cause[0] == '\0' || std::memcmp(cause, kNone, sizeof(kNone)) == 0;
}

}  // namespace

void PauseCapture::begin(int64_t now_ns) noexcept {
  const int32_t depth = depth_.load(kRelaxed);
  const int64_t safepoint = value_of(signs_.safepoints);
  // What lies in a pause is in the same safepoint.
  const bool is_within = depth > 0 && depth < kDeepest && safepoint == safepoint_.load(kRelaxed);
  if (is_within) {
    depth_.store(depth + 1, kRelaxed);
    return;
  }
  if (depth > 0) {
    counters_.taken.fetch_add(1, kRelaxed);
    counters_.no_end.fetch_add(1, kRelaxed);
  }
  depth_.store(1, kRelaxed);
  begin_ns_.store(now_ns, kRelaxed);
  safepoint_.store(safepoint, kRelaxed);
  for (size_t i = 0; i < signs_.collector_count; ++i) left_[i].store(value_of(signs_.collectors[i].left), kRelaxed);
}

void PauseCapture::end(int64_t now_ns, pid_t tid) noexcept {
  const int32_t depth = depth_.load(kRelaxed);
  if (depth <= 0) {
    counters_.no_begin.fetch_add(1, kRelaxed);
    return;
  }
  depth_.store(depth - 1, kRelaxed);
  if (depth > 1) return;
  counters_.taken.fetch_add(1, kRelaxed);
  uint8_t* room = ring_.reserve(sizeof(PauseRecord));
  if (room == nullptr) {
    counters_.ring_full.fetch_add(1, kRelaxed);
    return;
  }
  PauseRecord record{};
  record.begin_ns = begin_ns_.load(kRelaxed);
  record.end_ns = now_ns;
  record.tid = tid;
  note(record);
  std::memcpy(room, &record, sizeof(record));
  ring_.commit(room);
}

void PauseCapture::note(PauseRecord& record) const noexcept {
  record.collector = collector_now();
  // Most collectors set the cause for just the time between our two calls, some for longer.
  if (signs_.cause != nullptr) copy_text(record.cause, PauseRecord::kLongestCause, signs_.cause, signs_.cause_size);
  if (!says_none(record.cause)) return;
  std::memset(record.cause, 0, sizeof(record.cause));
  if (signs_.last_cause == nullptr) return;
  copy_text(record.cause, PauseRecord::kLongestCause, signs_.last_cause, signs_.last_cause_size);
  if (says_none(record.cause)) std::memset(record.cause, 0, sizeof(record.cause));
}

// The last that has ended within this pause, else the last that has begun and not ended: some end around us.
int32_t PauseCapture::collector_now() const noexcept {
  int32_t ended = -1, running = -1;
  int64_t ended_at = 0, running_since = 0;
  for (size_t i = 0; i < signs_.collector_count; ++i) {
    const int64_t entered = value_of(signs_.collectors[i].entered), left = value_of(signs_.collectors[i].left);
    if (left != left_[i].load(kRelaxed)) {
      if (ended < 0 || left > ended_at) ended = static_cast<int32_t>(i), ended_at = left;
    } else if (entered > left && (running < 0 || entered > running_since)) {
      running = static_cast<int32_t>(i), running_since = entered;
    }
  }
  return ended >= 0 ? ended : running;
}

}  // namespace tarsier::capture
