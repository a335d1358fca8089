#include "export/page_time.h"

namespace tarsier::exporting {
namespace {

// Of a recording that is still being read, or damaged: up to the last sample.
int64_t length_by_samples(const analysis::Model& model) {
  int64_t length = 0;
  for (size_t i = 0; i < static_cast<size_t>(analysis::Profile::kCount); ++i) {
    for (const analysis::Sample& sample : samples_of(model, static_cast<analysis::Profile>(i))) {
      int64_t since = 0;
      if (!__builtin_sub_overflow(sample.time_ns, model.start_ns, &since)) length = std::max(length, since);
    }
  }
  return length;
}

}  // namespace

PageTime::PageTime(const analysis::Model& model)
    : start_ns_(model.start_ns),
      length_ns_(model.duration.count > 0 ? model.duration.count : length_by_samples(model)) {
  count_moments();
  while (moments_ > kMostMoments) coarsen();
}

uint32_t PageTime::coarsen() {
  const uint32_t ratio = is_two_ ? 5 : 2;
  if (moments_ == 1 || moment_ns_ > INT64_MAX / ratio) return 1;
  moment_ns_ *= ratio;
  is_two_ = !is_two_;
  count_moments();
  return ratio;
}

void PageTime::count_moments() {
  const int64_t whole = length_ns_ / moment_ns_ + (length_ns_ % moment_ns_ > 0 ? 1 : 0);
  moments_ = static_cast<uint32_t>(std::clamp<int64_t>(whole, 1, UINT32_MAX));
}

}  // namespace tarsier::exporting
