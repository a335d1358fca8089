// Any bytes as what the agent of a JVM tells `tarsier top`: the screen fits, nothing on it moves the cursor, and the
// figures are numbers.
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "analysis/top_reader.h"
#include "cli/top_json.h"
#include "cli/top_screen.h"
#include "export/escape.h"

namespace {

using namespace tarsier;

void expect(bool holds) {
  if (!holds) std::abort();
}

void look_at(const analysis::TopSnapshot& snapshot, const cli::TopState& state, cli::TopSize size) {
  const cli::TopTitle title;
  const cli::TopScreen screen = cli::draw_top(snapshot, title, state, size);
  expect(screen.lines.size() <= size.lines);
  for (const cli::TopLine& line : screen.lines) {
    size_t width = 0;
    for (const cli::TopSpanOfText& span : line) {
      width += exporting::display_width(span.text);
      expect(exporting::visible(span.text) == span.text);
    }
    expect(width <= size.columns);
  }
  for (const analysis::TopThreadRow& row : snapshot.threads) {
    expect(std::isfinite(row.cpu) && row.cpu >= 0);
    expect(!row.waiting || (*row.waiting >= 0 && *row.waiting <= 1));
  }
  for (const analysis::TopMethodRow& row : snapshot.methods) expect(row.self >= 0 && row.self <= 1 && row.total <= 1);
  (void)cli::top_json(snapshot, title, state, 10);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto recording = recording::Recording::over({data, size});
  if (!recording.ok()) return 0;
  analysis::TopModel model;
  analysis::TopReader reader(model);
  (void)(*recording)->read(reader);
  model.settle();
  const uint8_t shape = data[size - 1];
  cli::TopState state;
  state.table = (shape & 1) != 0 ? cli::TopTable::kMethods : cli::TopTable::kThreads;
  for (const auto span : {analysis::TopSpan::kLast, analysis::TopSpan::kSmooth, analysis::TopSpan::kAll}) {
    look_at(model.snapshot(span), state, {static_cast<size_t>(shape), static_cast<size_t>(shape) / 4});
  }
  model.ended_but({});
  model.end_round(INT64_MAX);
  model.settle();
  look_at(model.snapshot(analysis::TopSpan::kAll, analysis::TopThreadId{1, 1}), state, {80, 24});
  return 0;
}
