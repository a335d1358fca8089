// How sure a sum of samples is, by the recording's own account. Samples are counts, so chance alone makes them vary;
// but a program has phases, and samples of one phase come together. So the recording is cut into slices of time, and
// how much the slices differ tells how much the whole would differ next time.
#pragma once

#include <array>
#include <cstddef>

namespace tarsier::analysis {

constexpr size_t kSlices = 64;
using Slices = std::array<double, kSlices>;  // what one row has in each slice of the time, in order

struct Spread {
  double variance = 0;  // of the sum of all slices
  double freedom = 0;   // from how many independent differences that is known
};

// For a recording that is a window into something that goes on: which phases fell into it was chance, and another
// window may have more of them. The variance of slices around their mean, with 64, 32, 16 and 8 slices: phases that are
// longer than a slice only show in longer ones, so the largest counts, and what the trend says of still longer ones.
Spread spread_of_window(const Slices& slices);

// For a run of a job whose phases are known to come again in every run. Only how neighbours differ counts (von
// Neumann's mean square of successive differences), so a phase costs its two ends and not its height.
Spread spread_of_job(const Slices& slices);

}  // namespace tarsier::analysis
