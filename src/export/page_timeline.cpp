#include "export/page_timeline.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

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

}  // namespace

std::optional<std::string> encode_timeline(const analysis::Model& model, const PageTime& time) {
  const std::vector<analysis::MachinePiece> pieces = analysis::machine_stack_over_time(model, kMostMoments);
  if (pieces.empty() && model.pauses.all.empty()) return std::nullopt;
  ColumnWriter writer;
  if (!pieces.empty()) put_machine(pieces, time, writer);
  if (!model.pauses.all.empty()) put_pauses(model.pauses, time, writer);
  return std::move(writer).finish();
}

}  // namespace tarsier::exporting
