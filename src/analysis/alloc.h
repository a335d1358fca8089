// Who allocates what: bytes and objects by site and class, estimated from allocation samples.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/confidence.h"
#include "analysis/labels.h"
#include "analysis/model.h"
#include "analysis/selection.h"

namespace tarsier::analysis {

struct AllocEstimate {
  int64_t bytes = 0;
  double objects = 0;  // 0 if the recording does not tell sizes
  uint64_t samples = 0;
  double variance = 0;  // of bytes

  void add(int64_t weight, double of_objects);
  // The 95 % interval of bytes.
  [[nodiscard]] Interval bytes_ci95() const;
};

struct AllocRow {
  uint32_t site = 0;   // label: the method that allocated, or a marker
  uint32_t klass = 0;  // label
  int32_t line = 0;    // in the site, the heaviest; 0: unknown
  AllocEstimate estimate;
};

struct AllocProfile {
  std::vector<AllocRow> rows;  // most bytes first
  AllocEstimate all;
};
AllocProfile alloc_profile(const Model& model, const Selection& selection, const Labels& labels);

// As Java writes it: [B is byte[], [[Ljava/lang/String; is java.lang.String[][].
std::string readable_class(std::string_view name);

}  // namespace tarsier::analysis
