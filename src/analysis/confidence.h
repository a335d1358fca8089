// How sure a share of samples is.
#pragma once

namespace tarsier::analysis {

struct Interval {
  double low = 0, high = 1;
};

// The 95 % Wilson score interval of a share that was estimated from `n` independent samples of equal weight (weighted
// samples: their effective number). Unlike share +- 2 sigma it stays within 0..1 and is honest about rare methods.
// No samples: nothing is known, 0..1.
Interval wilson_95(double share, double n);

}  // namespace tarsier::analysis
