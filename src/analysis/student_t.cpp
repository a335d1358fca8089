#include "analysis/student_t.h"

#include <cmath>

namespace tarsier::analysis {
namespace {

// The continued fraction of the incomplete beta function, evaluated from the front (Lentz's method). It converges fast
// for x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr int kMostSteps = 500;
  constexpr double kPrecision = 1e-14;
  constexpr double kTiny = 1e-300;  // in place of 0, by which nobody can divide
  const auto not_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1;
  double d = 1 / not_zero(1 - (a + b) * x / (a + 1));
  double result = d;
  for (int m = 1; m <= kMostSteps; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / not_zero(1 + even * d);
    c = not_zero(1 + even / c);
    result *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / not_zero(1 + odd * d);
    c = not_zero(1 + odd / c);
    const double factor = d * c;
    result *= factor;
    if (std::abs(factor - 1) < kPrecision) break;
  }
  return result;
}

double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);  // std::lgamma writes to a global
}

// The regularized incomplete beta function I_x(a, b).
double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

}  // namespace

double two_sided_p(double t, double freedom) {
  if (std::isinf(t)) return 0;
  return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

double t_of_95(double freedom) {
  double low = 0, high = 1e6;  // 12.7 for one degree of freedom, more only for parts of one
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (two_sided_p(middle, freedom) > 0.05 ? low : high) = middle;
  }
  return high;
}

}  // namespace tarsier::analysis
