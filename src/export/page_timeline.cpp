#include "export/page_timeline.h"

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

}  // namespace

std::optional<std::string> encode_timeline(const analysis::Model& model, const PageTime& time) {
  const std::vector<analysis::MachinePiece> pieces = analysis::machine_stack_over_time(model, kMostMoments);
  if (pieces.empty()) return std::nullopt;
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
  ColumnWriter writer;
  writer.differences("at", at);
  writer.numbers("length", length);
  for (size_t i = 0; i < columns.size(); ++i) writer.numbers(kColumns[i], columns[i]);
  return std::move(writer).finish();
}

}  // namespace tarsier::exporting
