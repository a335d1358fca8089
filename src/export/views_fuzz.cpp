// Any recording, through the model, into every view and export. Two kinds of input: the bytes of a file, and (not
// beginning as a file does) a recipe for a model, which reaches strange names and stacks sooner.
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <sstream>

#include "analysis/loader.h"
#include "analysis/lock_aspects.h"
#include "analysis/lock_trace.h"
#include "export/collapsed.h"
#include "export/compare.h"
#include "export/csv.h"
#include "export/html.h"
#include "export/page_template.h"
#include "export/pprof.h"
#include "export/report.h"
#include "export/speedscope.h"

// Fuzzers are built without the page.
std::string_view tarsier::exporting::page_template() {
  return "<!--tarsier:data-->";
}

namespace {

using namespace tarsier;

void check(bool holds) {
  if (!holds) std::abort();
}

void show_compared(const analysis::Model& model);

void show(const analysis::Model& model) {
  using namespace exporting;
  ReportOptions options{.views = known_views()};
  for (const bool by_thread : {false, true}) {
    options.by_thread = options.signatures = by_thread;
    for (const std::string_view aspect : analysis::lock_aspect_names()) {
      if (by_thread) options.lock_aspects.emplace_back(aspect);
    }
    const auto text = report_text(model, options);
    check(text.ok());
    for (const char c : *text) check(static_cast<uint8_t>(c) >= ' ' || c == '\n');
    check(report_json(model, options).ok());
  }
  std::ostringstream out;
  check(export_collapsed(model, out).ok());
  check(export_html(model, "title", out).ok());
  check(export_pprof(model, out).ok());
  check(export_csv(model, out).ok());
  check(export_speedscope(model, out, {.calls = 50, .threads = 3, .depth = 20}).ok());
  show_compared(model);
}

void show_compared(const analysis::Model& model) {
  const std::vector<analysis::Model> models(2, model);
  for (const auto by : {analysis::RowsBy::kSelf, analysis::RowsBy::kTotal, analysis::RowsBy::kContext}) {
    analysis::CompareOptions options;
    options.changes.by = by;
    const auto comparison = analysis::compare(models, options);
    if (!comparison) return;
    check(comparison->changes->significant == 0);
    const std::string text = exporting::compare_text(*comparison, models, options, 20);
    for (const char c : text) check(static_cast<uint8_t>(c) >= ' ' || c == '\n');
    check(!exporting::compare_json(*comparison, models, options, 20).empty());
  }
}

// Takes bytes from the front.
class Recipe {
 public:
  Recipe(const uint8_t* data, size_t size) : data_(data), end_(data + size) {}
  [[nodiscard]] bool empty() const { return data_ == end_; }
  uint8_t byte() { return empty() ? 0 : *data_++; }
  std::string text() {
    std::string out;
    for (size_t length = byte(); length > 0 && !empty(); --length) out.push_back(static_cast<char>(byte()));
    return out;
  }

 private:
  const uint8_t* data_;
  const uint8_t* end_;
};

// Whatever the bytes say: numbers from a small range, so that they meet.
void add_lock_event(Recipe& recipe, analysis::LockTrace& trace, const std::vector<analysis::ThreadIndex>& threads) {
  const auto thread = [&] { return threads[recipe.byte() % threads.size()]; };
  const analysis::LockIndex lock(recipe.byte() % 3U);
  const analysis::MonitorPeriod period{analysis::LockIndex(recipe.byte() % 3U), recipe.byte() % 2};
  const int64_t begin = recipe.byte();
  const int64_t end = begin + recipe.byte();
  const int64_t sequence = recipe.byte() % 16;
  constexpr const char* kStacks[] = {"", "a;b", "a;java.util.concurrent.CountDownLatch.await", "java.lang.Thread.join",
                                     "a;java.util.concurrent.locks.LockSupport.park"};
  const char* stack = kStacks[recipe.byte() % std::size(kStacks)];
  switch (recipe.byte() % 5) {
    case 0:
      trace.enter(period, thread(), begin, end, sequence, stack).previous_owner = thread();
      break;
    case 1:
      trace.exit(period, thread(), begin, sequence, stack).next_owner = thread();
      break;
    case 2:
      trace.park(lock, thread(), begin, end, sequence, recipe.byte() % 16, stack).owner = thread();
      break;
    case 3:
      trace.unpark(thread(), thread(), begin, sequence, stack);
      break;
    default:
      trace.model.wait_kinds = {"sleeping", "parked"};
      trace.model.waits.push_back({static_cast<uint8_t>(recipe.byte() % 2), false});
      trace.model.others[static_cast<size_t>(analysis::Profile::kWaits)].push_back(
          {.time_ns = begin, .thread = thread(), .stack = trace.stack(stack), .weight = end - begin});
  }
}

analysis::Model cook(Recipe recipe) {
  analysis::LockTrace maker;
  std::vector<analysis::ThreadIndex> threads;
  std::vector<std::string> names;
  for (int n = recipe.byte() % 4; n >= 0; --n) {
    threads.push_back(maker.thread(recipe.text(), static_cast<analysis::ThreadKind>(recipe.byte() % 6)));
    names.push_back(recipe.text());
  }
  for (int n = recipe.byte() % 3; n > 0; --n) {
    analysis::Engine engine;
    engine.name = recipe.text();
    engine.mechanism = recipe.text();
    engine.interval = Nanos(recipe.byte());
    engine.dropped[recipe.text()] = recipe.byte();
    maker.model.engines.push_back(engine);
    maker.model.problems.push_back(recipe.text());
  }
  maker.model.unsampled_cpu[static_cast<analysis::ThreadKind>(recipe.byte() % 6)] = Nanos(recipe.byte());
  for (const char* name : {"p.Lock", "java.util.concurrent.Semaphore$Sync", "java.util.concurrent.FutureTask"}) {
    maker.lock(names.front() + name, recipe.byte());
  }
  while (!recipe.empty()) {
    if (recipe.byte() % 2 != 0) {
      add_lock_event(recipe, maker, threads);
      continue;
    }
    std::vector<analysis::StackNode> frames;
    for (int depth = recipe.byte() % 32; depth >= 0; --depth) {
      analysis::StackNode frame;
      frame.method = maker.builder().method("a/B", names[recipe.byte() % names.size()], recipe.byte() % 2 ? "()V" : "");
      frame.line = recipe.byte() - 1;
      frame.type = static_cast<recording::FrameType>(recipe.byte() % static_cast<int>(recording::FrameType::kCount));
      frames.push_back(frame);
    }
    maker.model.samples.push_back({.time_ns = recipe.byte(),
                                   .thread = threads[recipe.byte() % threads.size()],
                                   .stack = maker.builder().stack(frames, recipe.byte() % 2 != 0),
                                   .weight = int64_t{1} << recipe.byte() % 40});
  }
  return std::move(maker.model);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0 || data[0] != 'F') {
    show(cook(Recipe(data, size)));
    return 0;
  }
  const auto recording = recording::Recording::over({data, size});
  if (!recording) return 0;
  analysis::LockPass locks;
  analysis::Loader loader(locks);
  const auto summary = (*recording)->read(loader);
  if (summary) show(loader.finish(*summary));
  return 0;
}
