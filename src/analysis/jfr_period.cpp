#include "analysis/jfr_period.h"

#include <cstdint>

namespace tarsier::analysis {
namespace {

struct Unit {
  std::string_view name;
  int64_t nanos;
};
constexpr Unit kUnits[] = {
    {"", 1},  // async-profiler's
    {"ns", 1},
    {"us", 1'000},
    {"ms", 1'000'000},
    {"s", 1'000'000'000},
    {"m", 60'000'000'000},
    {"h", 3'600'000'000'000},
    {"d", 86'400'000'000'000},
};

}  // namespace

std::optional<Nanos> parse_jfr_period(std::string_view text) {
  int64_t number = 0;
  size_t i = 0;
  for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
    if (__builtin_mul_overflow(number, 10, &number)) return std::nullopt;
    if (__builtin_add_overflow(number, text[i] - '0', &number)) return std::nullopt;
  }
  if (number == 0) return std::nullopt;
  while (i < text.size() && text[i] == ' ') ++i;
  for (const Unit& unit : kUnits) {
    int64_t nanos = 0;
    if (unit.name != text.substr(i)) continue;
    if (__builtin_mul_overflow(number, unit.nanos, &nanos)) return std::nullopt;
    return Nanos(nanos);
  }
  return std::nullopt;
}

}  // namespace tarsier::analysis
