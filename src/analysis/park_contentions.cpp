#include "analysis/park_contentions.h"

#include <algorithm>

#include "analysis/park_bundles.h"

namespace tarsier::analysis {
namespace {

class Cutter {
 public:
  Cutter(const LockEvents& events, const ParkBundles& bundles, PieceBudget& budget)
      : events_(events), bundles_(bundles), budget_(budget) {}

  std::span<const Piece> cut(const Contention& contention, const BundledPark& bundled) {
    const ThreadPark& park = events_.parks[bundled.park];
    const Unpark* ended_by = bundled.ended_by == kNoUnpark ? nullptr : &events_.unparks[bundled.ended_by];
    pieces_.start(contention);
    if (park.blocker != kNoLock && park.sequence > 0) {
      at_releases(park, ended_by == nullptr ? last_sequence(park) : ended_by->sequence);
    }
    // Whoever was there when it began, and was not seen to let go.
    const bool nothing_seen = pieces_.pieces().empty();
    if (nothing_seen && ended_by == nullptr && park.owner != kNobody) {
      pieces_.until(INT64_MAX, Owner::only_thread(park.owner));
    }
    pieces_.until(INT64_MAX, ended_by != nullptr && park.blocker != kNoLock ? Owner::hand_off() : Owner::unknown());
    return pieces_.pieces();
  }

 private:
  static int64_t last_sequence(const ThreadPark& park) { return park.end_sequence > 0 ? park.end_sequence : INT64_MAX; }

  void at_releases(const ThreadPark& park, int64_t last) {
    const auto releases = bundles_.releases_of(park.blocker);
    const auto first =
        std::upper_bound(releases.begin(), releases.end(), park.sequence,
                         [&](int64_t sequence, uint32_t i) { return sequence < bundles_.release(i).sequence; });
    for (auto it = first; it != releases.end() && !pieces_.complete(); ++it) {
      const Release& release = bundles_.release(*it);
      if (release.sequence > last || !budget_.take()) return;
      if (release.thread == park.thread) continue;  // it is parked: that can't be
      const bool of_other = pieces_.pieces().empty() && park.owner != kNobody && park.owner != release.thread;
      if (of_other) {
        // That one let go unseen; the releaser has had it since it was woken up itself, if it was.
        const bool known = release.held_since_ns > park.begin_ns;
        pieces_.until(known ? std::min(release.held_since_ns, release.time_ns) : release.time_ns,
                      Owner::only_thread(park.owner));
      }
      pieces_.until(release.time_ns, Owner::released(release.thread, release.stack));
    }
  }

  const LockEvents& events_;
  const ParkBundles& bundles_;
  PieceBudget& budget_;
  PieceList pieces_;
};

}  // namespace

void park_contentions(const LockEvents& events, const LockCode& code, size_t threads, PieceBudget& budget,
                      const ContentionSink& sink) {
  if (events.parks.empty()) return;
  const ParkBundles bundles(events, code, threads);
  Cutter cutter(events, bundles, budget);
  for (const BundledPark& bundled : bundles.parks()) {
    const ThreadPark& park = events.parks[bundled.park];
    Contention contention{.begin_ns = park.begin_ns,
                          .end_ns = park.end_ns,
                          .lock = park.blocker,
                          .thread = park.thread,
                          .stack = park.stack,
                          .group = code.group_of(park.blocker, park.stack)};
    contention.after_wait = is_lock(contention.group) && code.after_wait(park.stack);
    sink(contention, cutter.cut(contention, bundled));
  }
}

}  // namespace tarsier::analysis
