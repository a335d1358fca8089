// Which samples a view is about, and their weight by stack: the ground of every tree.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/model.h"
#include "base/result.h"

namespace tarsier::analysis {

struct Filter {
  std::string thread_regex{};         // ECMAScript, found anywhere in the thread's name; empty: all threads
  std::optional<Nanos> from{}, to{};  // since the start of the recording; `to` itself is not in

  [[nodiscard]] bool everything() const { return thread_regex.empty() && !from && !to; }
};

class Selection {
 public:
  // Errc::kUsage if the expression is not one, matches no thread, or the times make no sense.
  static Result<Selection> make(const Model& model, const Filter& filter);
  // Of a model that is still growing: what the filter selects of it by now. Nothing if it makes no sense.
  static Selection so_far(const Model& model, const Filter& filter);

  [[nodiscard]] bool has(const Sample& sample) const {
    return sample.time_ns >= from_ns_ && sample.time_ns < to_ns_ && has(sample.thread);
  }
  [[nodiscard]] bool has(ThreadIndex thread) const {
    return threads_.empty() || (thread.value < threads_.size() && threads_[thread.value]);
  }
  // Whether it is selected. Of a sample that lasts, a wait, the part within the selected time is left.
  [[nodiscard]] bool take(Sample& sample, Profile profile) const;
  // Leaves of an interval what is in the selected time; false if that is nothing.
  [[nodiscard]] bool clip(int64_t& begin_ns, int64_t& end_ns) const {
    const bool instant = begin_ns == end_ns;
    begin_ns = std::max(begin_ns, from_ns_);
    end_ns = std::min(end_ns, to_ns_);
    return begin_ns < end_ns || (instant && begin_ns == end_ns && begin_ns < to_ns_);
  }
  [[nodiscard]] bool whole_time() const { return whole_time_; }
  [[nodiscard]] bool everything() const { return whole_time_ && threads_.empty(); }

 private:
  void choose_time(const Model& model, const Filter& filter);

  std::vector<bool> threads_;  // empty: all
  int64_t from_ns_ = INT64_MIN;
  int64_t to_ns_ = INT64_MAX;
  bool whole_time_ = true;
};

// CPU time of the selected threads that no engine samples. It is known for the recording as a whole only: nothing if
// the selection is a part of the time, or if the profile is another one.
std::map<ThreadKind, Nanos> unsampled_cpu(const Model& model, const Selection& selection);

// Leaves of the model's samples only those that the filter selects; it then lasts as long as the selected time. What
// was not sampled is dropped, too, where it is not known for the selection. Other profiles of the model are left as
// they are.
Status narrow(Model& model, const Filter& filter);

struct StackWeight {
  uint32_t group = 0;  // the thread's index if split by thread, else 0
  StackIndex stack{};
  int64_t weight = 0;
  uint64_t samples = 0;
  double objects = 0;  // of allocation: for how many its samples stand; 0 if the recording does not tell
};

struct WeightedStacks {
  std::vector<StackWeight> rows;  // ordered by group and stack; each pair once
  int64_t weight = 0;
  uint64_t samples = 0;
  // (sum of weights)^2 / sum of squares: so many samples of equal weight would tell as much (Kish). Infinite of what is
  // no sample of anything.
  double effective_samples = 0;
};
WeightedStacks weigh_stacks(const Model& model, const Selection& selection, bool by_thread = false);

}  // namespace tarsier::analysis
