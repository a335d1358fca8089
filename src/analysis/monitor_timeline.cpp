#include "analysis/monitor_timeline.h"

#include <algorithm>
#include <span>
#include <tuple>

namespace tarsier::analysis {
namespace {

using Kind = MonitorEvent::Kind;

auto key_of(const MonitorEvent& event) {
  return std::make_tuple(event.time_ns, event.sequence, static_cast<int>(event.kind), event.thread.value,
                         event.next_owner.value, event.last_owner.value, event.stack.value);
}

// Time and number of an event are both taken while its thread owns the monitor, so both give the same order. By time
// also those without a number find their place; where the numbers disagree, something is wrong, and it counts as a gap.
void bring_into_order(std::vector<MonitorEvent>& events) {
  std::sort(events.begin(), events.end(), [](const MonitorEvent& a, const MonitorEvent& b) {
    return a.time_ns != b.time_ns ? a.time_ns < b.time_ns : key_of(a) < key_of(b);
  });
}

bool duplicates(const MonitorEvent& a, const MonitorEvent& b) {
  return a.time_ns == b.time_ns && a.sequence == b.sequence && a.kind == b.kind && a.thread == b.thread;
}

// The compiled code of JDK 24 and later lets go first and tells afterwards (a release without a number). By then the
// next one may have entered already, or even have been there and gone: the release is moved to where it belongs.
void move_late_releases(std::vector<MonitorEvent>& events, const MonitorEvent* before) {
  constexpr size_t kNone = SIZE_MAX;
  size_t last = kNone;  // of those that are not kSeen
  for (size_t i = 0; i < events.size(); ++i) {
    if (events[i].kind == Kind::kSeen) continue;
    const bool unnumbered = events[i].kind == Kind::kReleased && events[i].sequence == 0;
    const bool other_is_last = last != kNone && events[last].thread != events[i].thread;
    const bool entered_before_that =
        before != nullptr && before->kind == Kind::kEntered && before->thread == events[i].thread;
    if (unnumbered && other_is_last && (events[last].kind == Kind::kEntered || entered_before_that)) {
      events[i].time_ns = events[last].time_ns;
      const auto at = events.begin() + static_cast<std::ptrdiff_t>(last);
      std::rotate(at, events.begin() + static_cast<std::ptrdiff_t>(i),
                  events.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      before = &events[last];
      last = last + 1;
    } else {
      if (last != kNone) before = &events[last];
      last = i;
    }
  }
}

// In its place: a copy of what was written just before is slow.
void add(std::vector<Holding>& holdings, int64_t begin_ns, const Owner& owner) {
  Holding& holding = holdings.emplace_back();
  holding.begin_ns = begin_ns;
  holding.owner = owner;
}

// What lies between two neighbours `a` and `b` (null: there is none) that entered or released.
class Stretch {
 public:
  // `missing`: so many events at least between the two.
  Stretch(const MonitorEvent* a, const MonitorEvent* b, int64_t missing, std::span<const MonitorEvent> seen)
      : a_(a), b_(b), missing_(missing), seen_(seen) {}

  void add_to(std::vector<Holding>& holdings) const {
    const int64_t begin = a_ == nullptr ? INT64_MIN : a_->time_ns;
    Owner owner = at_begin();
    bool contradicted = false;
    if (!is_whole_holding()) {
      // Whoever lets go at the end can't have held it all the time if another one was seen.
      const auto other = std::find_if(seen_.begin(), seen_.end(), [&](const MonitorEvent& event) {
        return counts(event) && ends_with_release() && event.thread != b_->thread;
      });
      contradicted = other != seen_.end();
      if (contradicted && owner == of_release()) owner = Owner::only_thread(other->thread);
    }
    add(holdings, begin, owner);
    if (is_whole_holding()) return;
    for (const MonitorEvent& event : seen_) {
      if (!counts(event)) continue;
      const bool of_releaser = ends_with_release() && event.thread == b_->thread;
      const bool of_enterer = starts_with(Kind::kEntered) && event.thread == a_->thread && missing_ <= 1;
      owner = of_releaser           ? of_release()
              : ends_with_release() ? Owner::unknown()
              : of_enterer          ? of_entering()
                                    : Owner::only_thread(event.thread);
      add(holdings, event.time_ns, owner);
    }
  }

 private:
  [[nodiscard]] bool ends_with_release() const { return b_ != nullptr && b_->kind == Kind::kReleased; }
  [[nodiscard]] bool starts_with(Kind kind) const { return a_ != nullptr && a_->kind == kind; }
  [[nodiscard]] Owner of_release() const { return Owner::released(b_->thread, b_->stack); }
  // What it entered with it holds it with, as a rule.
  [[nodiscard]] Owner of_entering() const { return Owner::released(a_->thread, a_->stack); }
  // From entering to letting go.
  [[nodiscard]] bool is_whole_holding() const {
    return missing_ == 0 && starts_with(Kind::kEntered) && ends_with_release() && a_->thread == b_->thread;
  }
  // Looking at the owner and at the clock is not one moment: who has just let go, or is just coming, tells nothing.
  [[nodiscard]] bool counts(const MonitorEvent& seen) const {
    const bool just_gone = starts_with(Kind::kReleased) && seen.thread == a_->thread;
    const bool just_coming = b_ != nullptr && b_->kind == Kind::kEntered && seen.thread == b_->thread;
    return !just_gone && !just_coming;
  }

  [[nodiscard]] Owner at_begin() const {
    if (starts_with(Kind::kEntered)) return after_entered();
    if (missing_ > 0) return Owner::unknown();
    if (starts_with(Kind::kReleased)) return after_release();
    // The period began when somebody had to wait: for the first one who let go.
    if (ends_with_release()) return of_release();
    return has_last_owner() ? Owner::only_thread(b_->last_owner) : Owner::unknown();
  }
  [[nodiscard]] Owner after_entered() const {
    if (is_whole_holding()) return of_release();
    // Then another one has held it as well, and nobody saw since when.
    if (ends_with_release()) return Owner::unknown();
    if (has_last_owner()) return Owner::only_thread(b_->last_owner);
    // Its own release may be missing. What else is missing had other owners.
    return missing_ <= 1 ? of_entering() : Owner::unknown();
  }
  // As JFR itself says it.
  [[nodiscard]] bool has_last_owner() const { return b_ != nullptr && b_->last_owner != kNobody; }
  [[nodiscard]] Owner after_release() const {
    const ThreadIndex next = a_->next_owner;
    if (b_ == nullptr) return next == kNobody ? Owner::unknown() : Owner::only_thread(next);
    if (b_->kind == Kind::kEntered) {
      return next == kNobody || next == b_->thread ? Owner::hand_off() : Owner::only_thread(next);
    }
    return next == kNobody || next == b_->thread ? of_release() : Owner::unknown();
  }

  const MonitorEvent* a_;
  const MonitorEvent* b_;
  int64_t missing_;
  std::span<const MonitorEvent> seen_;
};

// The first event from `i` on that has a number; events.size() if there is none.
size_t next_numbered(std::span<const MonitorEvent> events, size_t i) {
  while (i < events.size() && (events[i].kind == Kind::kSeen || events[i].sequence == 0)) ++i;
  return i;
}

}  // namespace

bool MonitorTimeline::was_missing(int64_t sequence) {
  if (sequence > last_sequence_) return true;
  if (sequence <= 0 || missing_ == 0) return false;
  --missing_;
  return true;
}

void MonitorTimeline::prepare(std::vector<MonitorEvent>& events, std::vector<uint32_t>& done) const {
  bring_into_order(events);
  size_t kept = 0;
  for (const MonitorEvent& event : events) {
    if (kept > 0 && duplicates(events[kept - 1], event)) {
      done.push_back(event.source);
    } else {
      events[kept++] = event;
    }
  }
  events.resize(kept);
  move_late_releases(events, last_ ? &*last_ : nullptr);
}

void MonitorTimeline::extend(std::vector<MonitorEvent>& events, int64_t horizon, std::vector<Holding>& holdings,
                             std::vector<uint32_t>& done) {
  prepare(events, done);
  // How many events are missing before one without a number is known once one with a number follows. None does for long
  // where all are without, or nothing happens any more.
  constexpr int64_t kLong = 10'000'000'000;
  size_t end = 0;
  bool numbers = last_sequence_ != 0;
  for (size_t i = 0; i < events.size() && events[i].time_ns <= horizon; ++i) {
    const MonitorEvent& event = events[i];
    if (event.kind == Kind::kSeen) continue;
    numbers = numbers || event.sequence != 0;
    if (event.sequence != 0 || !numbers || event.time_ns < horizon - kLong) end = i + 1;
  }
  stretches(std::span(events).first(end), false, holdings);
  for (size_t i = 0; i < end; ++i) done.push_back(events[i].source);
}

void MonitorTimeline::finish(std::vector<MonitorEvent>& events, std::vector<Holding>& holdings) {
  std::vector<uint32_t> done;
  prepare(events, done);
  stretches(events, true, holdings);
}

void MonitorTimeline::stretches(std::span<const MonitorEvent> events, bool finished, std::vector<Holding>& holdings) {
  const MonitorEvent* a = last_ ? &*last_ : nullptr;
  size_t first_seen = 0, counted = 0;
  int64_t missing = 0;
  for (size_t i = 0; i < events.size() + (finished ? 1 : 0); ++i) {
    if (i < events.size() && events[i].kind == Kind::kSeen) continue;
    if (i >= counted) {
      // So many are missing somewhere before the next one with a number.
      const size_t numbered = next_numbered(events, i);
      missing = numbered < events.size() ? missing_before(events[numbered].sequence) : 0;
      counted = numbered + 1;
    }
    const MonitorEvent* b = i < events.size() ? &events[i] : nullptr;
    Stretch(a, b, missing, events.subspan(first_seen, i - first_seen)).add_to(holdings);
    a = b;
    first_seen = i + 1;
  }
  if (a != nullptr && (!last_ || a != &*last_)) last_ = *a;
}

// Numbers that go backwards or stand still are no order: as if many were missing.
int64_t MonitorTimeline::missing_before(int64_t sequence) {
  if (sequence <= last_sequence_) {
    missing_ = std::max<int64_t>(missing_ - 1, 0);
    return INT64_MAX;
  }
  const int64_t gap = sequence - last_sequence_ - 1;
  missing_ += std::min(gap, INT64_MAX - missing_);
  last_sequence_ = sequence;
  return gap;
}

}  // namespace tarsier::analysis
