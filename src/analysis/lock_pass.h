// The locks of a recording, analysed while it is read: a large one needs no more memory than a window of its events.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "analysis/contentions.h"
#include "analysis/lock_blame.h"
#include "analysis/lock_profile.h"
#include "analysis/lock_samples.h"

namespace tarsier::analysis {

// What a view wants to know.
struct LockQuestion {
  std::vector<LockAspect> by;
  Filter filter{};
  bool signatures = false;
  bool causes = false;  // also what lock_causes() needs
  // Gets every contention once it is final, of all groups, threads and times. What a contention refers to is in the
  // model by then, which may still grow.
  std::function<void(const Model&, const LockCode&, const Contention&, std::span<const Piece>)> each{};
};

class LockPass {
 public:
  // Without a question: for the verdict only.
  explicit LockPass(std::optional<LockQuestion> question = {}, const LockLimits& limits = {});
  ~LockPass();
  LockPass(const LockPass&) = delete;
  LockPass& operator=(const LockPass&) = delete;

  // To be called before the first event: the model gets the profiles `locks` and `owners`, of the filter's time.
  void keep_samples(const Filter& filter, LockSampleDetail detail = LockSampleDetail::kAll) {
    samples_.emplace(filter, detail);
  }
  [[nodiscard]] bool keeps_samples() const { return samples_.has_value(); }
  // Those so far.
  void put_samples(Model& model) const {
    if (samples_) samples_->put(model);
  }

  // For each event that was put into the model's columns: when it ended. Takes some out of them, once there are many.
  void came(Model& model, int64_t end_ns) {
    recent_[came_++ % recent_.size()] = end_ns;
    if (came_ >= next_look_) look(model);
  }
  // After the last event. Unless some have been taken out, the columns stay as they are.
  void finish(Model& model);

  // The answer, after finish().
  [[nodiscard]] std::shared_ptr<const LockProfile> profile() const { return profile_; }

  // While events still come: all that is final by now, however little it is. `now_ns`: about when the last ones
  // happened that could have come.
  void advance(Model& model, int64_t now_ns = INT64_MIN);
  // The answer so far; from here on it begins anew.
  LockProfile take_profile(const Model& model);
  [[nodiscard]] const AspectKeys& keys() const;

 private:
  struct Work;
  [[nodiscard]] int64_t newest() const;
  Work& work(const Model& model);
  void look(Model& model);

  std::optional<LockQuestion> question_;
  LockLimits limits_;
  uint64_t came_ = 0, next_look_;      // by the number of events that have come
  std::array<int64_t, 255> recent_{};  // when the last ones ended, in the order of the file
  std::optional<LockSamples> samples_;
  std::unique_ptr<Work> work_;
  std::shared_ptr<const LockProfile> profile_;
};

}  // namespace tarsier::analysis
