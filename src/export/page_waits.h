// The part `waits` of the page's data (docs/page.md).
#pragma once

#include <cstdint>
#include <string>

#include "analysis/model.h"
#include "export/page_threads.h"
#include "export/page_time.h"

namespace tarsier::exporting {

constexpr size_t kMostPageWaits = 200'000;

struct PageWaits {
  std::string bytes;
  uint64_t waits = 0, kept = 0;
  int64_t total_ns = 0, kept_ns = 0;
};
// `most`: so many of the longest.
PageWaits encode_waits(const analysis::Model& model, const PageThreads& threads, const PageTime& time,
                       size_t most = kMostPageWaits);

}  // namespace tarsier::exporting
