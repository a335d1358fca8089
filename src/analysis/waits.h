// Who waited, for what, where and how long: waits by kind and call chain, and the account of all of the threads' time.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analysis/labels.h"
#include "analysis/model.h"
#include "analysis/selection.h"

namespace tarsier::analysis {

struct WaitSum {
  int64_t ns = 0;
  uint64_t count = 0;
  int64_t longest = 0;
  uint64_t ongoing = 0;  // of them: not over when the recording ended
  int64_t ongoing_ns = 0;

  [[nodiscard]] int64_t ended_ns() const { return ns - ongoing_ns; }

  void add(int64_t length, bool goes_on);
};

struct WaitRow {
  uint8_t kind = 0;             // of Model::wait_kinds
  std::vector<uint32_t> chain;  // labels, innermost first
  WaitSum sum;
};

struct WaitProfile {
  std::vector<WaitRow> rows;  // most time first; of a kind and chain there is one
  WaitSum all;
  std::vector<WaitSum> by_kind;  // by index into Model::wait_kinds
};
WaitProfile wait_profile(const Model& model, const Selection& selection, const Labels& labels);

// Labels of a stack, innermost first.
std::vector<uint32_t> chain_of(const Model& model, const Labels& labels, StackIndex stack);

// Of the selected threads together. Known for the recording as a whole only: zeros if the selection is a part of it.
ThreadTime sum_of_times(const Model& model, const Selection& selection);

}  // namespace tarsier::analysis
