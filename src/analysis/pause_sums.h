// How much of its time the JVM as a whole stood still: the summary of its pauses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/model.h"
#include "analysis/selection.h"

namespace tarsier::analysis {

struct PausesByName {
  std::string name;
  uint64_t count = 0;
  Nanos time, longest;
};

struct CollectionSum {
  uint64_t pauses = 0;
  Nanos time, longest;
  std::vector<PausesByName> by_name;  // most time first
};

struct SafepointSum {
  uint64_t count = 0;
  Nanos time;
  std::optional<Nanos> time_to_stop;  // none: the recording does not tell
};

struct PauseSums {
  // None: nothing of that kind was recorded, which is not the same as that there was nothing.
  std::optional<CollectionSum> gc;
  std::optional<SafepointSum> safepoints;
  Nanos duration;  // of what is selected
};

// Pauses belong to no thread: a selection of threads does not matter, one of time does. Of a pause that lies partly in
// it that part counts; of an interval of safepoints the part that lies in it, as if they were spread evenly.
PauseSums sum_pauses(const Model& model, const Selection& selection);

// "GC: 37 pauses, 412 ms, 1.2 % of the time, longest 45 ms; safepoints: 120, 480 ms"; empty if nothing was recorded.
std::string words_of_pauses(const PauseSums& sums);

}  // namespace tarsier::analysis
