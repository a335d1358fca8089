#include "base/parse.h"

#include <array>
#include <charconv>
#include <cmath>

namespace tarsier {
namespace {

struct Unit {
  std::string_view suffix;
  int64_t factor;
};
constexpr std::array<Unit, 6> kDurations = {{{"h", 3'600'000'000'000},
                                             {"m", 60'000'000'000},
                                             {"s", 1'000'000'000},
                                             {"ms", 1'000'000},
                                             {"us", 1'000},
                                             {"ns", 1}}};
constexpr std::array<Unit, 4> kSizes = {{{"", 1}, {"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}}};

template <size_t N>
Result<int64_t> parse(std::string_view text, const std::array<Unit, N>& units, const char* examples) {
  const Error usage{Errc::kUsage, "'" + std::string(text) + "' is not understood: write " + examples};
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number) || number < 0) return usage;
  const std::string_view suffix(rest, static_cast<size_t>(text.data() + text.size() - rest));
  for (const Unit& unit : units) {
    if (suffix != unit.suffix) continue;
    const double value = number * static_cast<double>(unit.factor);
    if (value > 9e18) return usage;
    return static_cast<int64_t>(std::llround(value));
  }
  return usage;
}

}  // namespace

Result<Nanos> parse_duration(std::string_view text) {
  auto value = parse(text, kDurations, "a number and its unit, such as 10us, 1ms, 30s or 2m");
  if (!value) return std::move(value).error();
  return Nanos(*value);
}

Result<Bytes> parse_size(std::string_view text) {
  auto value = parse(text, kSizes, "a number of bytes, such as 4096, 512k, 64m or 1g");
  if (!value) return std::move(value).error();
  return Bytes(*value);
}

std::string format_duration(Nanos value) {
  for (const Unit& unit : kDurations) {
    if (value.count % unit.factor == 0 && (value.count != 0 || unit.suffix == "s")) {
      return std::to_string(value.count / unit.factor) + std::string(unit.suffix);
    }
  }
  return std::to_string(value.count) + "ns";
}

Result<double> parse_share(std::string_view text) {
  std::string_view digits = text;
  const bool percent = digits.ends_with('%');
  if (percent) digits.remove_suffix(1);
  double share = 0;
  const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), share);
  if (percent) share /= 100;
  if (error != std::errc() || rest != digits.data() + digits.size() || !(share >= 0 && share <= 1)) {
    return Error{Errc::kUsage, "'" + std::string(text) + "' is not a share: write 0.05 or 5%, at most 1 or 100%"};
  }
  return share;
}

std::string format_share(double value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return {digits.data(), end};
}

std::string format_size(Bytes value) {
  std::string text = std::to_string(value.count);
  for (const Unit& unit : kSizes) {
    if (value.count != 0 && value.count % unit.factor == 0) {
      text = std::to_string(value.count / unit.factor) + std::string(unit.suffix);
    }
  }
  return text;
}

}  // namespace tarsier
