#include "analysis/thread_activity.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace tarsier::analysis {
namespace {

// By thread, row and time; none of a thread and row overlap.
void join_overlapping(std::vector<ActivePeriod>& periods) {
  const auto order = [](const ActivePeriod& p) { return std::make_tuple(p.thread.value, p.row, p.begin_ns, p.end_ns); };
  std::sort(periods.begin(), periods.end(),
            [&](const ActivePeriod& a, const ActivePeriod& b) { return order(a) < order(b); });
  size_t kept = 0;
  for (const ActivePeriod& period : periods) {
    ActivePeriod* last = kept > 0 ? &periods[kept - 1] : nullptr;
    const bool joins =
        last != nullptr && last->thread == period.thread && last->row == period.row && period.begin_ns <= last->end_ns;
    if (joins) {
      last->end_ns = std::max(last->end_ns, period.end_ns);
    } else {
      periods[kept++] = period;
    }
  }
  periods.resize(kept);
}

class Periods {
 public:
  Periods(std::vector<ActivePeriod> periods, size_t threads) : periods_(std::move(periods)), groups_(threads) {
    join_overlapping(periods_);
    for (size_t first = 0; first < periods_.size();) {
      size_t last = first;
      while (last < periods_.size() && periods_[last].thread == periods_[first].thread &&
             periods_[last].row == periods_[first].row) {
        ++last;
      }
      groups_[periods_[first].thread.value].emplace_back(periods_.begin() + static_cast<std::ptrdiff_t>(first),
                                                         periods_.begin() + static_cast<std::ptrdiff_t>(last));
      first = last;
    }
  }
  Periods(const Periods&) = delete;
  Periods& operator=(const Periods&) = delete;

  [[nodiscard]] const std::vector<ActivePeriod>& all() const { return periods_; }

  // Calls found(row, ns) for each row with the part of the thread's time that it has in that row.
  template <class Found>
  void for_each_part(ThreadIndex thread, int64_t begin_ns, int64_t length, const Found& found) const {
    if (thread.value >= groups_.size()) return;
    int64_t end_ns = 0;
    if (__builtin_add_overflow(begin_ns, length, &end_ns)) end_ns = INT64_MAX;
    for (const auto& group : groups_[thread.value]) {
      auto period = std::lower_bound(group.begin(), group.end(), begin_ns,
                                     [](const ActivePeriod& each, int64_t time) { return each.end_ns <= time; });
      for (; period != group.end() && period->begin_ns < end_ns; ++period) {
        found(period->row, std::min(end_ns, period->end_ns) - std::max(begin_ns, period->begin_ns));
      }
    }
  }

 private:
  std::vector<ActivePeriod> periods_;
  std::vector<std::vector<std::span<const ActivePeriod>>> groups_;  // by thread; each of one row
};

void sort_methods(Activity& activity, const Labels& labels) {
  std::sort(activity.methods.begin(), activity.methods.end(), [&](const auto& a, const auto& b) {
    return a.ns != b.ns ? a.ns > b.ns : labels.names[a.label] < labels.names[b.label];
  });
}

// Native code below it, such as a clock's or the kernel's, says little about what a Java thread does.
StackIndex innermost_java(const Model& model, StackIndex stack) {
  for (StackIndex frame = stack; frame.value != 0; frame = model.stacks[frame.value].parent) {
    const FrameType type = model.stacks[frame.value].type;
    if (type <= FrameType::kInlined) return frame;
  }
  return stack;
}

void add_cpu(const Model& model, const Labels& labels, const Periods& periods, std::vector<Activity>& activities) {
  std::vector<std::unordered_map<uint32_t, int64_t>> by_method(activities.size());
  for (const Sample& sample : samples_of(model, Profile::kCpu)) {
    // An instant: the sum of the weights is right on average, however short the periods are.
    periods.for_each_part(sample.thread, sample.time_ns, 1, [&](uint32_t row, int64_t) {
      activities[row].cpu_ns += sample.weight;
      if (sample.stack.value != 0 && sample.stack.value < model.stacks.size()) {
        by_method[row][labels.of(model.stacks[innermost_java(model, sample.stack).value])] += sample.weight;
      }
    });
  }
  for (size_t row = 0; row < activities.size(); ++row) {
    for (const auto& [label, ns] : by_method[row]) activities[row].methods.push_back({label, ns});
    sort_methods(activities[row], labels);
  }
}

void add_waits(const Model& model, const Periods& periods, std::vector<Activity>& activities) {
  for (Activity& activity : activities) activity.waited_ns.resize(model.wait_kinds.size());
  // What lock events tell as well, and better.
  std::vector<bool> told(model.wait_kinds.size());
  for (size_t i = 0; i < told.size(); ++i) {
    told[i] = (model.wait_kinds[i] == "parked" && model.locks.has_parks()) ||
              (model.wait_kinds[i] == "monitor" && model.locks.has_enters());
  }
  size_t index = 0;
  for (const Sample& sample : samples_of(model, Profile::kWaits)) {
    const uint8_t kind = model.waits[index++].kind;
    if (told[kind]) continue;
    periods.for_each_part(sample.thread, sample.time_ns, sample.weight,
                          [&](uint32_t row, int64_t ns) { activities[row].waited_ns[kind] += ns; });
  }
}

}  // namespace

int64_t Activity::rest_ns() const {
  int64_t known = cpu_ns + blocked_ns + parked_ns;
  for (const int64_t ns : waited_ns) known += ns;
  return std::max<int64_t>(0, total_ns - known);
}

bool activity_recorded(const Model& model) {
  return !samples_of(model, Profile::kCpu).empty() || !samples_of(model, Profile::kWaits).empty();
}

std::vector<Activity> thread_activity(const Model& model, const BlockedTimes& times, const Labels& labels,
                                      std::vector<ActivePeriod> periods, size_t rows) {
  std::vector<Activity> activities(rows);
  std::erase_if(periods, [&](const ActivePeriod& period) { return period.thread.value >= model.threads.size(); });
  const Periods ordered(std::move(periods), model.threads.size());
  size_t near = 0;  // they come by thread, row and time
  for (const ActivePeriod& period : ordered.all()) {
    Activity& activity = activities[period.row];
    activity.total_ns += period.end_ns - period.begin_ns;
    for_each_overlap(times.of(period.thread), period.begin_ns, period.end_ns, near,
                     [&](const BlockedPiece& piece, int64_t from, int64_t to) {
                       if (period.lock != kNoLock && piece.lock == period.lock) {
                         activity.total_ns -= to - from;
                       } else {
                         (is_lock(piece.group) ? activity.blocked_ns : activity.parked_ns) += to - from;
                       }
                     });
  }
  add_cpu(model, labels, ordered, activities);
  add_waits(model, ordered, activities);
  return activities;
}

}  // namespace tarsier::analysis
