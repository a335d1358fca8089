#include "analysis/lock_pressure.h"

#include <algorithm>
#include <unordered_map>

namespace tarsier::analysis {
namespace {

void add_blocked(LockPressure& pressure, const TimeSlices& slices, const BlockedSpan& span) {
  const int64_t begin = std::max(span.begin_ns, slices.begin_ns), end = std::min(span.end_ns, slices.end_ns);
  for (int64_t at = begin; at < end;) {
    const size_t slice = slices.at(at);
    const int64_t to = slice + 1 == kPressureSlices ? end : std::min(end, slices.begin_of(slice + 1));
    pressure.blocked_ns[slice] += to - at;
    at = to;
  }
}

}  // namespace

int64_t TimeSlices::begin_of(size_t slice) const {
  return begin_ns + length() * static_cast<int64_t>(slice);
}

size_t TimeSlices::at(int64_t time_ns) const {
  if (length() == 0) return 0;
  return std::min(kPressureSlices - 1, static_cast<size_t>((time_ns - begin_ns) / length()));
}

TimeSlices time_slices(const Model& model, const Selection& selection) {
  TimeSlices slices{.begin_ns = model.start_ns};
  if (__builtin_add_overflow(model.start_ns, model.duration.count, &slices.end_ns)) slices.end_ns = INT64_MAX;
  if (!selection.clip(slices.begin_ns, slices.end_ns)) slices.end_ns = slices.begin_ns;
  return slices;
}

std::vector<LockPressure> lock_pressure(const Model& model, const BlockedTimes& times, const Selection& selection,
                                        const std::vector<LockIndex>& locks) {
  std::vector<LockPressure> pressures(locks.size());
  std::unordered_map<LockIndex, uint32_t> place;
  for (uint32_t i = 0; i < locks.size(); ++i) place[locks[i]] = i;
  // By thread: the locks that it uses.
  std::vector<std::vector<uint32_t>> used(model.threads.size());
  const auto uses = [&](ThreadIndex thread, uint32_t lock) {
    if (thread.value >= used.size()) return;
    auto& of = used[thread.value];
    if (std::find(of.begin(), of.end(), lock) == of.end()) of.push_back(lock);
  };
  for (const BlockedPiece& piece : times.pieces()) {
    const auto lock = place.find(piece.lock);
    if (lock == place.end()) continue;
    uses(piece.thread, lock->second);
    uses(piece.owner.thread, lock->second);
  }
  for (const auto& of : used) {
    for (const uint32_t lock : of) pressures[lock].users += 1;
  }
  const TimeSlices slices = time_slices(model, selection);
  const Samples& samples = samples_of(model, Profile::kCpu);
  for (size_t i = 0; i < locks.size(); ++i) {
    pressures[i].blocked_ns.resize(kPressureSlices);
    if (!samples.empty()) pressures[i].running_ns.resize(kPressureSlices);
    if (slices.empty()) continue;
    for (const BlockedSpan& span : times.of(locks[i])) add_blocked(pressures[i], slices, span);
  }
  for (const Sample& sample : samples) {
    if (sample.thread.value >= used.size() || sample.time_ns < slices.begin_ns || sample.time_ns >= slices.end_ns) {
      continue;
    }
    for (const uint32_t lock : used[sample.thread.value]) {
      pressures[lock].running_ns[slices.at(sample.time_ns)] += sample.weight;
    }
  }
  return pressures;
}

double pressure_in(const LockPressure& pressure, const TimeSlices& slices, size_t slice) {
  const double whole = static_cast<double>(slices.length()) * static_cast<double>(pressure.users);
  return whole > 0 ? std::min(1.0, static_cast<double>(pressure.blocked_ns[slice]) / whole) : 0;
}

}  // namespace tarsier::analysis
