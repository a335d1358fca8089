// Who held a monitor when, in one period of contention: worked out from all that was seen of it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/contention.h"

namespace tarsier::analysis {

struct MonitorEvent {
  enum class Kind : uint8_t {
    kSeen,      // somebody who began to block saw that `thread` held it
    kEntered,   // `thread` was blocked, and now holds it
    kReleased,  // `thread` held it until then
  };
  int64_t time_ns = 0;
  int64_t sequence = 0;
  Kind kind = Kind::kSeen;
  ThreadIndex thread{};
  StackIndex stack{};  // of a release, or of an entering, if that shall stand for a release that is missing
  ThreadIndex next_owner = kNobody;  // of a release
  ThreadIndex last_owner = kNobody;  // of an entering: who held it before
  uint32_t source = 0;               // the caller's
};

// From there on until the next one's begin; the last one has no end, the first one of a period begins before all times.
struct Holding {
  int64_t begin_ns = INT64_MIN;
  Owner owner{};
};

// How far the holdings of a period are known.
class MonitorTimeline {
 public:
  // `events` are in any order, with duplicates, some missing; none is before since(). Up to `horizon` they are
  // complete, late releases included. What is known for good is appended to `holdings`. Reorders `events`; `done` gets
  // the sources of those that must not be given again.
  void extend(std::vector<MonitorEvent>& events, int64_t horizon, std::vector<Holding>& holdings,
              std::vector<uint32_t>& done);
  // The same, when nothing can come any more.
  void finish(std::vector<MonitorEvent>& events, std::vector<Holding>& holdings);

  // The last event that the holdings reach to.
  [[nodiscard]] int64_t since() const { return last_ ? last_->time_ns : INT64_MIN; }
  [[nodiscard]] bool begun() const { return last_.has_value(); }
  // Is an event with this number, which came late, one of those that were missing? Then it is not missing any more.
  bool was_missing(int64_t sequence);

 private:
  void prepare(std::vector<MonitorEvent>& events, std::vector<uint32_t>& done) const;
  void stretches(std::span<const MonitorEvent> events, bool finished, std::vector<Holding>& holdings);
  int64_t missing_before(int64_t sequence);

  std::optional<MonitorEvent> last_;  // that entered or released
  int64_t last_sequence_ = 0;
  int64_t missing_ = 0;
};

}  // namespace tarsier::analysis
