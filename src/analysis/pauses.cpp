#include "analysis/pauses.h"

#include <algorithm>

#include "analysis/bounded_numbers.h"

namespace tarsier::analysis {
namespace {

// Between the last thread that stops and the operation for which they did so there is next to nothing.
constexpr int64_t kGap = 5'000'000;
// A damaged file may have any text, over and over.
constexpr size_t kMostNames = 10'000;

int64_t end_of(int64_t begin_ns, int64_t length) {
  int64_t end = 0;
  return __builtin_add_overflow(begin_ns, as_nanos(length).count, &end) ? begin_ns : end;
}

}  // namespace

uint32_t PauseCollector::intern(const std::string& name) {
  const bool full = ids_.size() >= kMostNames && !ids_.contains(name);
  const auto [found, fresh] = ids_.try_emplace(full ? "[more]" : name, static_cast<uint32_t>(pauses_.names.size()));
  if (fresh) pauses_.names.push_back(found->first);
  return found->second;
}

void PauseCollector::add(int64_t begin_ns, int64_t end_ns, PauseKind kind, const std::string& name) {
  pauses_.all.push_back({begin_ns, Nanos(end_ns - begin_ns), kind, intern(name)});
}

void PauseCollector::collection(int64_t begin_ns, int64_t length, std::string_view name, std::string_view cause) {
  std::string text(name);
  if (!cause.empty()) text += (text.empty() ? "" : ": ") + std::string(cause);
  add(begin_ns, end_of(begin_ns, length), PauseKind::kCollection, text);
}

void PauseCollector::collection_pause(int64_t begin_ns, int64_t length, std::string_view name) {
  ++collection_pauses_;
  add(begin_ns, end_of(begin_ns, length), PauseKind::kCollectionPause, std::string(name));
}

void PauseCollector::safepoint_begin(int64_t begin_ns, int64_t length, int64_t id) {
  begins_.push_back({begin_ns, end_of(begin_ns, length), id});
}

void PauseCollector::safepoint_end(int64_t begin_ns, int64_t length, int64_t id) {
  ends_[id] = end_of(begin_ns, length);
}

void PauseCollector::operation(int64_t begin_ns, int64_t length, std::string_view name) {
  operations_.push_back({begin_ns, end_of(begin_ns, length), 0, std::string(name)});
}

void PauseCollector::safepoints(const SafepointInterval& interval) {
  SafepointInterval sane = interval;
  sane.length = Nanos(end_of(interval.begin_ns, interval.length.count) - interval.begin_ns);
  pauses_.safepoints.push_back(sane);
}

void PauseCollector::put_safepoints_together() {
  const auto by_begin = [](const Stop& a, const Stop& b) { return a.begin_ns < b.begin_ns; };
  std::stable_sort(begins_.begin(), begins_.end(), by_begin);
  std::stable_sort(operations_.begin(), operations_.end(), by_begin);
  size_t next = 0;
  const auto alone = [&](const Stop& operation) {
    add(operation.begin_ns, operation.end_ns, PauseKind::kSafepoint, operation.name);
  };
  for (size_t i = 0; i < begins_.size(); ++i) {
    Stop stop = begins_[i];
    while (next < operations_.size() && operations_[next].begin_ns < stop.begin_ns) alone(operations_[next++]);
    const int64_t limit = i + 1 < begins_.size() ? begins_[i + 1].begin_ns : INT64_MAX;
    // Several operations may use one safepoint.
    while (next < operations_.size() && operations_[next].begin_ns < limit &&
           operations_[next].begin_ns - stop.end_ns <= kGap) {
      const Stop& operation = operations_[next++];
      stop.end_ns = std::max(stop.end_ns, operation.end_ns);
      if (stop.name.find(operation.name) == std::string::npos) {
        stop.name += (stop.name.empty() ? "" : ", ") + operation.name;
      }
    }
    if (const auto end = ends_.find(stop.id);
        end != ends_.end() && end->second >= stop.end_ns && end->second <= limit) {
      stop.end_ns = end->second;
    }
    add(stop.begin_ns, stop.end_ns, PauseKind::kSafepoint, stop.name);
  }
  while (next < operations_.size()) alone(operations_[next++]);
}

Pauses PauseCollector::finish() && {
  put_safepoints_together();
  std::stable_sort(pauses_.all.begin(), pauses_.all.end(),
                   [](const Pause& a, const Pause& b) { return a.begin_ns < b.begin_ns; });
  std::stable_sort(pauses_.safepoints.begin(), pauses_.safepoints.end(),
                   [](const SafepointInterval& a, const SafepointInterval& b) { return a.begin_ns < b.begin_ns; });
  return std::move(pauses_);
}

}  // namespace tarsier::analysis
