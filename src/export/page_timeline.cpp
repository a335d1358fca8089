#include "export/page_timeline.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "analysis/bounded_numbers.h"
#include "analysis/machine_stack.h"
#include "export/columns.h"

namespace tarsier::exporting {
namespace {

// What the parts of a machine stack are called, and the columns into which they go.
struct Part {
  std::string_view name;
  size_t column;
};
constexpr std::array<const char*, 9> kColumns = {"app",       "gc",        "jit",    "vm",  "tarsier",
                                                 "jvm_other", "processes", "stolen", "idle"};
constexpr Part kParts[] = {
    {"application", 0},
    {"GC", 1},
    {"JIT", 2},
    {"VM", 3},
    {"tarsier", 4},
    {"JFR", 5},
    {"other threads", 5},
    {"other processes", 6},
    {"stolen by the hypervisor", 7},
    {"idle", 8},
};

// Within what columns can hold, whatever a damaged file says.
int64_t bounded(int64_t number) {
  return std::clamp<int64_t>(number, 0, analysis::kMaxCount);
}

void put_machine(const std::vector<analysis::MachinePiece>& pieces, const PageTime& time, ColumnWriter& writer) {
  std::vector<int64_t> at, length;
  std::array<std::vector<int64_t>, kColumns.size()> columns;
  for (const analysis::MachinePiece& piece : pieces) {
    at.push_back(time.since_start(piece.from_ns));
    length.push_back(time.since_start(piece.to_ns) - time.since_start(piece.from_ns));
    for (auto& column : columns) column.push_back(0);
    for (const analysis::MachinePart& part : piece.stack.parts) {
      for (const Part& known : kParts) {
        if (known.name == part.name) columns[known.column].back() += part.time.count;
      }
    }
  }
  writer.differences("at", at);
  writer.numbers("length", length);
  for (size_t i = 0; i < columns.size(); ++i) writer.numbers(kColumns[i], columns[i]);
}

// The longest of them if there are too many.
void put_pauses(const analysis::Pauses& pauses, const PageTime& time, ColumnWriter& writer) {
  std::vector<analysis::Pause> shown = pauses.all;
  if (shown.size() > kMostPagePauses) {
    const auto end = shown.begin() + static_cast<std::ptrdiff_t>(kMostPagePauses);
    std::nth_element(shown.begin(), end, shown.end(), [](const auto& a, const auto& b) { return a.length > b.length; });
    shown.erase(end, shown.end());
    std::stable_sort(shown.begin(), shown.end(), [](const auto& a, const auto& b) { return a.begin_ns < b.begin_ns; });
  }
  std::vector<int64_t> begin, length, kind, name;
  for (const analysis::Pause& pause : shown) {
    begin.push_back(time.since_start(pause.begin_ns));
    length.push_back(pause.length.count);
    kind.push_back(static_cast<int64_t>(pause.kind));
    name.push_back(pause.name);
  }
  writer.texts("pause_names", pauses.names);
  writer.differences("pause_begin", begin);
  writer.numbers("pause_length", length);
  writer.numbers("pause_kind", kind);
  writer.numbers("pause_name", name);
}

// Neighbours together if there are too many.
void put_safepoints(const std::vector<analysis::SafepointInterval>& intervals, const PageTime& time,
                    ColumnWriter& writer) {
  const size_t together = intervals.size() / kMostPageSafepoints + 1;
  std::vector<int64_t> at, length, count, stopped, to_stop;
  for (size_t i = 0; i < intervals.size(); ++i) {
    const analysis::SafepointInterval& interval = intervals[i];
    if (i % together == 0) {
      at.push_back(bounded(time.since_start(interval.begin_ns)));
      for (auto* column : {&length, &count, &stopped, &to_stop}) column->push_back(0);
    }
    length.back() = bounded(time.since_start(interval.begin_ns + interval.length.count) - at.back());
    count.back() = bounded(count.back() + static_cast<int64_t>(interval.count));
    stopped.back() = bounded(stopped.back() + interval.time.count);
    to_stop.back() = bounded(to_stop.back() + interval.time_to_stop.count);
  }
  writer.differences("safepoint_at", at);
  writer.numbers("safepoint_length", length);
  writer.numbers("safepoint_count", count);
  writer.numbers("safepoint_time", stopped);
  writer.numbers("safepoint_to_stop", to_stop);
}

}  // namespace

std::optional<std::string> encode_timeline(const analysis::Model& model, const PageTime& time) {
  const std::vector<analysis::MachinePiece> pieces = analysis::machine_stack_over_time(model, kMostMoments);
  const analysis::Pauses& pauses = model.pauses;
  if (pieces.empty() && pauses.all.empty() && pauses.safepoints.empty()) return std::nullopt;
  ColumnWriter writer;
  if (!pieces.empty()) put_machine(pieces, time, writer);
  if (!pauses.all.empty()) put_pauses(pauses, time, writer);
  if (!pauses.safepoints.empty()) put_safepoints(pauses.safepoints, time, writer);
  return std::move(writer).finish();
}

}  // namespace tarsier::exporting
