#include "analysis/lock_pressure.h"

#include <algorithm>
#include <unordered_map>

namespace tarsier::analysis {
namespace {

void add_blocked(LockPressure& pressure, const PressureSlices& slices, const BlockedSpan& span) {
  const int64_t begin = std::max(span.begin_ns, slices.begin_ns), end = std::min(span.end_ns, slices.end_ns);
  for (int64_t at = begin; at < end;) {
    const size_t slice = slices.at(at);
    const int64_t to = slice + 1 == kPressureSlices ? end : std::min(end, slices.begin_of(slice + 1));
    pressure.blocked_ns[slice] += to - at;
    at = to;
  }
}

// Which threads use which locks, and when: uncontended use leaves no trace, so what lies between counts.
class Users {
 public:
  struct Use {
    uint32_t lock = 0;           // index into `locks`
    size_t first = 0, last = 0;  // slices
  };

  Users(size_t threads, const BlockedTimes& times, const PressureSlices& slices, const std::vector<LockIndex>& locks)
      : uses_(threads) {
    std::unordered_map<LockIndex, uint32_t> place;
    for (uint32_t i = 0; i < locks.size(); ++i) place[locks[i]] = i;
    for (const BlockedPiece& piece : times.pieces()) {
      const auto lock = place.find(piece.lock);
      if (lock == place.end()) continue;
      const size_t first = slice_of(slices, piece.begin_ns), last = slice_of(slices, piece.end_ns - 1);
      add(piece.thread, lock->second, first, last);
      add(piece.owner.thread, lock->second, first, last);
    }
  }

  [[nodiscard]] const std::vector<std::vector<Use>>& all() const { return uses_; }
  [[nodiscard]] std::span<const Use> of(ThreadIndex thread) const {
    return thread.value < uses_.size() ? std::span<const Use>(uses_[thread.value]) : std::span<const Use>();
  }

 private:
  static size_t slice_of(const PressureSlices& slices, int64_t time_ns) {
    return slices.empty() ? 0 : slices.at(std::clamp(time_ns, slices.begin_ns, slices.end_ns - 1));
  }
  void add(ThreadIndex thread, uint32_t lock, size_t first, size_t last) {
    if (thread.value >= uses_.size()) return;
    auto& uses = uses_[thread.value];
    auto use = std::find_if(uses.begin(), uses.end(), [&](const Use& each) { return each.lock == lock; });
    if (use == uses.end()) use = uses.insert(use, {lock, first, first});
    use->first = std::min(use->first, first);
    use->last = std::max({use->last, first, last});
  }

  std::vector<std::vector<Use>> uses_;  // by thread
};

}  // namespace

int64_t PressureSlices::begin_of(size_t slice) const {
  return begin_ns + length() * static_cast<int64_t>(slice);
}

size_t PressureSlices::at(int64_t time_ns) const {
  if (length() == 0) return 0;
  return std::min(kPressureSlices - 1, static_cast<size_t>((time_ns - begin_ns) / length()));
}

PressureSlices time_slices(const Model& model, const Selection& selection) {
  PressureSlices slices{.begin_ns = model.start_ns};
  if (__builtin_add_overflow(model.start_ns, model.duration.count, &slices.end_ns)) slices.end_ns = INT64_MAX;
  if (!selection.clip(slices.begin_ns, slices.end_ns)) slices.end_ns = slices.begin_ns;
  return slices;
}

std::vector<LockPressure> lock_pressure(const Model& model, const BlockedTimes& times, const Selection& selection,
                                        const std::vector<LockIndex>& locks) {
  const PressureSlices slices = time_slices(model, selection);
  const Samples& samples = samples_of(model, Profile::kCpu);
  const Users users(model.threads.size(), times, slices, locks);
  std::vector<LockPressure> pressures(locks.size());
  for (size_t i = 0; i < locks.size(); ++i) {
    pressures[i].present.resize(kPressureSlices);
    pressures[i].blocked_ns.resize(kPressureSlices);
    if (!samples.empty()) pressures[i].running_ns.resize(kPressureSlices);
    if (slices.empty()) continue;
    for (const BlockedSpan& span : times.of(locks[i])) add_blocked(pressures[i], slices, span);
  }
  for (const auto& of_thread : users.all()) {
    for (const Users::Use& use : of_thread) {
      pressures[use.lock].users += 1;
      for (size_t slice = use.first; slice <= use.last; ++slice) pressures[use.lock].present[slice] += 1;
    }
  }
  for (const Sample& sample : samples) {
    if (sample.time_ns < slices.begin_ns || sample.time_ns >= slices.end_ns) continue;
    for (const Users::Use& use : users.of(sample.thread)) {
      pressures[use.lock].running_ns[slices.at(sample.time_ns)] += sample.weight;
    }
  }
  return pressures;
}

double pressure_in(const LockPressure& pressure, const PressureSlices& slices, size_t slice) {
  const double whole = static_cast<double>(slices.length()) * static_cast<double>(pressure.present[slice]);
  return whole > 0 ? std::min(1.0, static_cast<double>(pressure.blocked_ns[slice]) / whole) : 0;
}

}  // namespace tarsier::analysis
