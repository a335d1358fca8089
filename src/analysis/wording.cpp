#include "analysis/wording.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <iterator>

namespace tarsier::analysis {

std::string fixed(double number, int digits) {
  std::array<char, 400> buffer{};  // the largest double has 309 digits
  const int length = std::snprintf(buffer.data(), buffer.size(), "%.*f", digits, number);
  return std::string(buffer.data(), static_cast<size_t>(length));
}

std::string words_of_count(uint64_t count) {
  std::string text = std::to_string(count);
  for (size_t i = text.size(); i > 3;) {
    i -= 3;
    text.insert(i, 1, ',');
  }
  return text;
}

std::string words_of_share(double share) {
  if (share > 0 && share < 0.0005) return "<0.1 %";
  return fixed(share * 100, 1) + " %";
}

std::string words_of_bytes(Bytes amount) {
  constexpr const char* kUnits[] = {"kB", "MB", "GB", "TB", "PB", "EB"};  // as Linux and JFR count: 1024 each
  auto size = static_cast<double>(amount.count);
  if (std::abs(size) < 1024) return words_of_count(static_cast<uint64_t>(std::abs(amount.count))) + " bytes";
  size_t unit = 0;
  for (size /= 1024; std::abs(size) >= 1023.95 && unit + 1 < std::size(kUnits); ++unit) size /= 1024;
  return fixed(size, size < 9.995 ? 2 : 1) + " " + kUnits[unit];
}

std::string words_of_time(Nanos time) {
  const double s = in_seconds(time);
  if (s == 0) return "0 s";
  if (s < 0.001) return fixed(s * 1e6, 0) + " us";
  if (s < 0.9995) return fixed(s * 1e3, s < 0.00995 ? 1 : 0) + " ms";
  if (s < 99.95) return fixed(s, s < 9.995 ? 2 : 1) + " s";
  const auto whole = static_cast<uint64_t>(std::llround(s));
  if (whole < 3600) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  return words_of_count(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
}

}  // namespace tarsier::analysis
