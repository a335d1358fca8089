#include "analysis/confidence.h"

#include <algorithm>
#include <cmath>

namespace tarsier::analysis {

Interval wilson_95(double share, double n) {
  if (!(n > 0)) return {};
  constexpr double kZ = 1.959963984540054;  // 97.5 % quantile of the normal distribution
  constexpr double kZ2 = kZ * kZ;
  const double p = std::clamp(share, 0.0, 1.0);
  const double scale = 1 / (1 + kZ2 / n);
  const double centre = (p + kZ2 / (2 * n)) * scale;
  const double half = kZ * std::sqrt(p * (1 - p) / n + kZ2 / (4 * n * n)) * scale;
  // Rounding must not push the estimate out of its own interval.
  return {std::clamp(centre - half, 0.0, p), std::clamp(centre + half, p, 1.0)};
}

}  // namespace tarsier::analysis
