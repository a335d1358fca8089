#include "analysis/block_variance.h"

#include <algorithm>
#include <numeric>
#include <span>

namespace tarsier::analysis {
namespace {

constexpr size_t kFewestSlices = 8;
// Simulated: with it, two windows into independent noise differ as rarely as their p values say or more rarely (0.2 %
// at p = 1 %), and so do windows with phases of up to 1/100 of their length; with 1/20 it is 3 % at p = 1 %.
constexpr double kFreedomOfWindow = 15;

double variance_of_sum(std::span<const double> slices) {
  const auto n = static_cast<double>(slices.size());
  const double mean = std::accumulate(slices.begin(), slices.end(), 0.0) / n;
  double squares = 0;
  for (const double slice : slices) squares += (slice - mean) * (slice - mean);
  return n * squares / (n - 1);
}

}  // namespace

Spread spread_of_window(const Slices& slices) {
  Slices merged = slices;
  double widest = 0, of_shorter = 0;
  for (size_t count = kSlices; count >= kFewestSlices; count /= 2) {
    const double variance = variance_of_sum(std::span(merged).first(count));
    widest = std::max(widest, variance);
    // What slices of a length miss of the variance falls with their length: where the longest still show more than
    // those of half their length, as much again is missing.
    if (count == kFewestSlices) widest = std::max(widest, variance + (variance - of_shorter));
    of_shorter = variance;
    for (size_t i = 0; i < count / 2; ++i) merged[i] = merged[2 * i] + merged[2 * i + 1];
  }
  return {widest, kFreedomOfWindow};
}

Spread spread_of_job(const Slices& slices) {
  constexpr auto kCount = static_cast<double>(kSlices);
  double squares = 0;
  for (size_t i = 1; i < kSlices; ++i) squares += (slices[i] - slices[i - 1]) * (slices[i] - slices[i - 1]);
  // Neighbouring differences share a slice: they know two thirds of what the variance around the mean does.
  return {kCount * squares / 2 / (kCount - 1), (kCount - 1) * 2 / 3};
}

}  // namespace tarsier::analysis
