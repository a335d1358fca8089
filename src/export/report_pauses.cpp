// The view `pauses`: how much of its time the JVM as a whole stood still, and for which collector and cause.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/pause_sums.h"
#include "analysis/wording.h"
#include "export/escape.h"
#include "export/report_view.h"
#include "export/text_table.h"

namespace tarsier::exporting {

using analysis::PauseSums;
using analysis::words_of_count;
using analysis::words_of_share;
using analysis::words_of_time;
using Json = nlohmann::ordered_json;

namespace {

double share_of_time(Nanos part, Nanos whole) {
  if (whole.count <= 0) return 0;
  // Of damaged or overlapping ones there may be more than there was time.
  return std::min(1.0, static_cast<double>(part.count) / static_cast<double>(whole.count));
}

}  // namespace

std::string pauses_text(const ReportContext& context) {
  const PauseSums sums = analysis::sum_pauses(context.model, context.selection);
  const std::string words = analysis::words_of_pauses(sums);
  std::string out = "Pauses\n";
  if (words.empty()) return out + "  not recorded\n";
  append_wrapped(out, "  " + words);
  if (sums.safepoints && sums.safepoints->time_to_stop && sums.safepoints->count > 0) {
    out += "  until all threads had stopped: " + words_of_time(*sums.safepoints->time_to_stop) + "\n";
  }
  if (!sums.gc || sums.gc->by_name.empty()) return out;
  out += "        time     share      pauses     longest  collector and cause\n";
  const size_t shown = std::min(sums.gc->by_name.size(), static_cast<size_t>(context.options.top));
  for (size_t i = 0; i < shown; ++i) {
    const analysis::PausesByName& row = sums.gc->by_name[i];
    const size_t start = out.size();
    out += pad_left(words_of_time(row.time), 12);
    out += pad_left(words_of_share(share_of_time(row.time, sums.duration)), 10);
    out += pad_left(words_of_count(row.count), 12);
    out += pad_left(words_of_time(row.longest), 12);
    append_name(out, start, row.name);
  }
  append_left_out(out, shown, sums.gc->by_name.size());
  return out;
}

std::string pauses_json(const ReportContext& context) {
  const PauseSums sums = analysis::sum_pauses(context.model, context.selection);
  Json gc, safepoints;
  if (sums.gc) {
    Json rows = Json::array();
    for (const analysis::PausesByName& row : sums.gc->by_name) {
      if (rows.size() == static_cast<size_t>(context.options.top)) break;
      rows.push_back(
          {{"name", row.name}, {"count", row.count}, {"total_ns", row.time.count}, {"longest_ns", row.longest.count}});
    }
    gc = {{"count", sums.gc->pauses},
          {"total_ns", sums.gc->time.count},
          {"share", share_of_time(sums.gc->time, sums.duration)},
          {"longest_ns", sums.gc->longest.count},
          {"by_name", rows}};
  }
  if (sums.safepoints) {
    safepoints = {{"count", sums.safepoints->count},
                  {"total_ns", sums.safepoints->time.count},
                  {"share", share_of_time(sums.safepoints->time, sums.duration)},
                  {"to_stop_ns", sums.safepoints->time_to_stop ? Json(sums.safepoints->time_to_stop->count) : Json()}};
  }
  return Json{{"gc", gc}, {"safepoints", safepoints}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tarsier::exporting
