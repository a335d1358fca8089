#include "analysis/pause_sums.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/wording.h"

namespace tarsier::analysis {
namespace {

bool was_asked_for(const Model& model) {
  return std::any_of(model.engines.begin(), model.engines.end(),
                     [](const Engine& engine) { return engine.is_pauses() && !engine.is_missing(); });
}

// A damaged file may have any number of pauses of any length.
constexpr int64_t kMost = int64_t{1} << 62;

void add_up(Nanos& sum, Nanos time) {
  sum = Nanos(std::min(sum.count + std::min(time.count, kMost), kMost));
}
int64_t rounded(double number) {
  return std::llround(std::min(number, static_cast<double>(kMost)));
}

void add(PausesByName& sum, Nanos time) {
  ++sum.count;
  add_up(sum.time, time);
  sum.longest = std::max(sum.longest, time);
}

void sum_single_pauses(const Pauses& pauses, const Selection& selection, PauseSums& sums) {
  std::map<uint32_t, PausesByName> by_name;
  PausesByName collector;
  SafepointSum safepoints;
  for (const Pause& pause : pauses.all) {
    const bool is_safepoint = pause.kind == PauseKind::kSafepoint;
    if (pause.kind == PauseKind::kCollection) continue;
    // That there are any tells that they were recorded, even if none of them is in the selected time.
    if (is_safepoint && !sums.safepoints) sums.safepoints.emplace();
    if (!is_safepoint && !sums.gc) sums.gc.emplace();
    int64_t begin = pause.begin_ns, end = pause.begin_ns + pause.length.count;
    if (!selection.clip(begin, end)) continue;
    const Nanos time(end - begin);
    if (is_safepoint) {
      ++safepoints.count;
      add_up(safepoints.time, time);
    } else {
      add(collector, time);
      add(by_name[pause.name], time);
    }
  }
  if (sums.safepoints) sums.safepoints = safepoints;
  if (!sums.gc) return;
  *sums.gc = {collector.count, collector.time, collector.longest, {}};
  for (auto& [name, sum] : by_name) {
    sum.name = pauses.names[name];
    sums.gc->by_name.push_back(std::move(sum));
  }
  std::stable_sort(sums.gc->by_name.begin(), sums.gc->by_name.end(),
                   [](const PausesByName& a, const PausesByName& b) { return a.time > b.time; });
}

// JFR's single safepoints know better, but no recording has both.
void sum_intervals(const Pauses& pauses, const Selection& selection, PauseSums& sums) {
  if (sums.safepoints || pauses.safepoints.empty()) return;
  double count = 0, time = 0, to_stop = 0;
  for (const SafepointInterval& interval : pauses.safepoints) {
    int64_t begin = interval.begin_ns, end = interval.begin_ns + interval.length.count;
    if (!selection.clip(begin, end)) continue;
    const double part =
        interval.length.count > 0 ? static_cast<double>(end - begin) / static_cast<double>(interval.length.count) : 1;
    count += part * static_cast<double>(interval.count);
    time += part * static_cast<double>(interval.time.count);
    to_stop += part * static_cast<double>(interval.time_to_stop.count);
  }
  sums.safepoints = {static_cast<uint64_t>(rounded(count)), Nanos(rounded(time)), Nanos(rounded(to_stop))};
}

}  // namespace

PauseSums sum_pauses(const Model& model, const Selection& selection) {
  PauseSums sums;
  int64_t begin = model.start_ns, end = 0;
  if (!__builtin_add_overflow(model.start_ns, model.duration.count, &end) && selection.clip(begin, end)) {
    sums.duration = Nanos(end - begin);
  }
  if (was_asked_for(model)) sums.gc.emplace();
  sum_single_pauses(model.pauses, selection, sums);
  sum_intervals(model.pauses, selection, sums);
  return sums;
}

std::string words_of_pauses(const PauseSums& sums) {
  std::string text;
  if (sums.gc && sums.gc->pauses == 0) {
    text = "GC: no pauses";
  } else if (sums.gc) {
    text = "GC: " + words_of_count(sums.gc->pauses) + (sums.gc->pauses == 1 ? " pause, " : " pauses, ") +
           words_of_time(sums.gc->time);
    if (sums.duration.count > 0) {
      text += ", " +
              words_of_share(static_cast<double>(sums.gc->time.count) / static_cast<double>(sums.duration.count)) +
              " of the time";
    }
    if (sums.gc->pauses > 1) text += ", longest " + words_of_time(sums.gc->longest);
  }
  if (!sums.safepoints) return text;
  text += text.empty() ? "Safepoints: " : "; safepoints: ";
  if (sums.safepoints->count == 0) return text + "none";
  return text + words_of_count(sums.safepoints->count) + ", " + words_of_time(sums.safepoints->time);
}

}  // namespace tarsier::analysis
