#include "analysis/selection.h"

#include <algorithm>
#include <limits>
#include <regex>

#include "analysis/index_table.h"
#include "analysis/thread_kind.h"
#include "base/parse.h"

namespace tarsier::analysis {
namespace {

// std::regex recurses once per character it consumes.
constexpr size_t kMaxMatchedName = 500;
constexpr size_t kNamesInMessage = 10;

Result<std::vector<bool>> match_threads(const Model& model, const std::string& expression) {
  std::vector<bool> matches;
  try {
    const std::regex regex(expression, std::regex::ECMAScript | std::regex::optimize);
    for (const Thread& thread : model.threads) {
      const auto end = thread.name.begin() + static_cast<std::ptrdiff_t>(std::min(thread.name.size(), kMaxMatchedName));
      matches.push_back(std::regex_search(thread.name.begin(), end, regex));
    }
  } catch (const std::regex_error& error) {
    return Error{Errc::kUsage, "thread expression '" + expression + "': " + error.what()};
  }
  return matches;
}

Result<std::vector<bool>> match_some_thread(const Model& model, const std::string& expression) {
  auto matches = match_threads(model, expression);
  if (!matches.ok() || std::find(matches->begin(), matches->end(), true) != matches->end()) return matches;

  std::string names;
  for (size_t i = 0; i < std::min(model.threads.size(), kNamesInMessage); ++i) {
    names += (i == 0 ? ": " : ", ") + model.threads[i].name;
  }
  if (model.threads.size() > kNamesInMessage) names += ", ...";
  return Error{Errc::kUsage, "thread expression '" + expression + "' matches none of the " +
                                 std::to_string(model.threads.size()) + " threads of the recording" + names};
}

int64_t capped_add(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

}  // namespace

Selection Selection::so_far(const Model& model, const Filter& filter) {
  Selection selection;
  if (!filter.thread_regex.empty()) {
    auto threads = match_threads(model, filter.thread_regex);
    selection.threads_ = threads.ok() ? *std::move(threads) : std::vector<bool>();
    if (selection.threads_.empty()) selection.threads_.push_back(false);
  }
  selection.choose_time(model, filter);
  return selection;
}

void Selection::choose_time(const Model& model, const Filter& filter) {
  if (filter.from) from_ns_ = capped_add(model.start_ns, filter.from->count);
  if (filter.to) to_ns_ = capped_add(model.start_ns, filter.to->count);
  whole_time_ = !filter.from && !filter.to;
}

Result<Selection> Selection::make(const Model& model, const Filter& filter) {
  Selection selection;
  if (!filter.thread_regex.empty()) {
    auto threads = match_some_thread(model, filter.thread_regex);
    if (!threads.ok()) return std::move(threads).error();
    selection.threads_ = *std::move(threads);
  }
  selection.choose_time(model, filter);
  if (selection.from_ns_ >= selection.to_ns_)
    return Error{Errc::kUsage, "the start of the time range is not before its end"};
  if (filter.from && *filter.from >= model.duration) {
    return Error{Errc::kUsage, "the time range starts at " + format_duration(*filter.from) +
                                   ", but the recording lasts only " + format_duration(model.duration)};
  }
  return selection;
}

bool Selection::take(Sample& sample, Profile profile) const {
  if (profile != Profile::kWaits || whole_time_) return has(sample);
  int64_t begin_ns = sample.time_ns, end_ns = capped_add(begin_ns, sample.weight);
  if (!has(sample.thread) || !clip(begin_ns, end_ns)) return false;
  sample.time_ns = begin_ns;
  sample.weight = end_ns - begin_ns;
  return true;
}

std::map<ThreadKind, Nanos> unsampled_cpu(const Model& model, const Selection& selection) {
  std::map<ThreadKind, Nanos> sums;
  if (model.profile != Profile::kCpu) return sums;
  if (selection.everything()) return model.unsampled_cpu;
  if (!selection.whole_time()) return sums;
  for (uint32_t i = 0; i < model.threads.size(); ++i) {
    if (selection.has(ThreadIndex(i))) add_unsampled_cpu(sums, model.threads[i]);
  }
  return sums;
}

Status narrow(Model& model, const Filter& filter) {
  auto selection = Selection::make(model, filter);
  if (!selection) return std::move(selection).error();
  if (selection->everything()) return {};
  Samples kept;
  for (Sample sample : model.samples) {
    if (selection->take(sample, model.profile)) kept.push_back(sample);
  }
  model.samples = std::move(kept);
  model.unsampled_cpu = unsampled_cpu(model, *selection);
  const Nanos from = filter.from.value_or(Nanos(0));
  const Nanos to = std::min(filter.to.value_or(model.duration), model.duration);
  model.start_ns = capped_add(model.start_ns, from.count);
  model.duration = to - from;
  return {};
}

WeightedStacks weigh_stacks(const Model& model, const Selection& selection, bool by_thread) {
  WeightedStacks result;
  KeyMap row_of_group;
  // Each sample looks it up: that of a stack alone needs no search.
  std::vector<uint32_t> row_of_stack(by_thread ? 0 : model.stacks.size(), KeyMap::kNone);
  double squares = 0;
  const bool has_objects = model.profile == Profile::kAlloc && model.alloc_objects.size() == model.samples.size();
  size_t index = 0;
  for (Sample sample : model.samples) {
    const double objects = has_objects ? model.alloc_objects[index++] : 0;
    if (!selection.take(sample, model.profile) || sample.stack.value >= model.stacks.size()) continue;
    const uint32_t group = by_thread ? sample.thread.value : 0;
    uint32_t& row = by_thread ? row_of_group[static_cast<uint64_t>(group) << 32 | sample.stack.value]
                              : row_of_stack[sample.stack.value];
    if (row == KeyMap::kNone) {
      row = static_cast<uint32_t>(result.rows.size());
      result.rows.push_back({.group = group, .stack = sample.stack});
    }
    result.rows[row].weight += sample.weight;
    result.rows[row].samples += sample.count;
    result.rows[row].objects += objects;
    result.weight += sample.weight;
    result.samples += sample.count;
    squares += static_cast<double>(sample.weight) * static_cast<double>(sample.weight);
  }
  if (squares > 0) {
    const auto sum = static_cast<double>(result.weight);
    result.effective_samples =
        about(model.profile).is_census ? std::numeric_limits<double>::infinity() : sum * sum / squares;
  }
  std::sort(result.rows.begin(), result.rows.end(), [](const StackWeight& a, const StackWeight& b) {
    return a.group != b.group ? a.group < b.group : a.stack < b.stack;
  });
  return result;
}

}  // namespace tarsier::analysis
