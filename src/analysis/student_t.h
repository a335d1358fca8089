// Student's t distribution, for differences whose standard error is itself an estimate.
#pragma once

namespace tarsier::analysis {

// How likely a value at least as far from 0 as `t` is by chance, with that many degrees of freedom (more than 0).
double two_sided_p(double t, double freedom);

// 95 % of the distribution lie within plus and minus this.
double t_of_95(double freedom);

}  // namespace tarsier::analysis
