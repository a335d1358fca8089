// The moments in which all parts of the page count time (docs/page.md).
#pragma once

#include <algorithm>
#include <cstdint>

#include "analysis/model.h"

namespace tarsier::exporting {

constexpr uint32_t kMostMoments = 8192;
constexpr size_t kMostMomentRows = 2'000'000;

class PageTime {
 public:
  // With as many moments as there may be.
  explicit PageTime(const analysis::Model& model);

  [[nodiscard]] int64_t start_ns() const { return start_ns_; }
  [[nodiscard]] int64_t moment_ns() const { return moment_ns_; }
  [[nodiscard]] uint32_t moments() const { return moments_; }
  // What lies outside of the recording's time belongs to its first or last moment.
  [[nodiscard]] uint32_t moment_of(int64_t time_ns) const {
    const int64_t since = since_start(time_ns);
    return static_cast<uint32_t>(std::min<int64_t>(since / moment_ns_, moments_ - 1));
  }
  // Not below 0: what was going on already began with the recording, as far as the page can tell.
  [[nodiscard]] int64_t since_start(int64_t time_ns) const {
    int64_t since = 0;
    if (__builtin_sub_overflow(time_ns, start_ns_, &since)) since = time_ns < start_ns_ ? 0 : INT64_MAX;
    return std::max<int64_t>(since, 0);
  }
  // The next longer moments: 1, 2, 10, 20, 100, ... ms. Each is made of whole ones of those before, of how many is the
  // answer; 1 if the recording is one moment already.
  uint32_t coarsen();

 private:
  void count_moments();

  int64_t start_ns_ = 0;
  int64_t length_ns_ = 0;
  int64_t moment_ns_ = 1'000'000;
  bool is_two_ = false;  // times a power of ten
  uint32_t moments_ = 1;
};

}  // namespace tarsier::exporting
