// How much of their time those who use a lock were blocked by it, over the time of the recording.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/blocked_times.h"

namespace tarsier::analysis {

constexpr size_t kPressureSlices = 60;

struct LockPressure {
  uint64_t users = 0;  // threads that were blocked by it, or held it meanwhile
  // By slice: those from the slice in which they were first seen to that in which they were last.
  std::vector<uint32_t> present;
  std::vector<int64_t> blocked_ns;  // by slice
  // What CPU samples of the users stand for, by slice; empty if there are none in the recording.
  std::vector<int64_t> running_ns;
};

struct PressureSlices {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;

  [[nodiscard]] bool empty() const { return end_ns <= begin_ns; }
  [[nodiscard]] int64_t begin_of(size_t slice) const;
  [[nodiscard]] int64_t length() const { return (end_ns - begin_ns) / static_cast<int64_t>(kPressureSlices); }
  // Only of times within.
  [[nodiscard]] size_t at(int64_t time_ns) const;
};
// Of the recording, or of the part of it that is selected.
PressureSlices time_slices(const Model& model, const Selection& selection);

// Of all threads, in the order of `locks`.
std::vector<LockPressure> lock_pressure(const Model& model, const BlockedTimes& times, const Selection& selection,
                                        const std::vector<LockIndex>& locks);

// Of the time of the users that were present in that slice, 0..1.
double pressure_in(const LockPressure& pressure, const PressureSlices& slices, size_t slice);

}  // namespace tarsier::analysis
