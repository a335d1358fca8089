#include "analysis/park_bundles.h"

#include <algorithm>
#include <tuple>

namespace tarsier::analysis {
namespace {

// Those that are not ordered by a number come first, by time.
auto key_of(const ThreadPark& p) {
  return std::make_tuple(p.sequence, p.begin_ns, p.end_ns, p.end_sequence, p.blocker.value, p.stack.value,
                         p.owner.value);
}
auto key_of(const Unpark& u) {
  return std::make_tuple(u.sequence, u.time_ns, u.thread.value, u.stack.value);
}
bool same(const ThreadPark& a, const ThreadPark& b) {
  return a.sequence == b.sequence && a.begin_ns == b.begin_ns;
}
bool same(const Unpark& a, const Unpark& b) {
  return a.sequence == b.sequence && a.time_ns == b.time_ns && a.thread == b.thread;
}

template <class Event>
std::span<uint32_t> in_order(const std::vector<Event>& all, std::span<uint32_t> indices) {
  std::sort(indices.begin(), indices.end(), [&](uint32_t a, uint32_t b) { return key_of(all[a]) < key_of(all[b]); });
  const auto end =
      std::unique(indices.begin(), indices.end(), [&](uint32_t a, uint32_t b) { return same(all[a], all[b]); });
  return indices.first(static_cast<size_t>(end - indices.begin()));
}

GroupedIndices group_releases(const std::vector<Release>& releases, size_t locks) {
  return GroupedIndices(releases, locks, [](const Release& release) { return release.lock.value; });
}

}  // namespace

ParkBundles::ParkBundles(const LockEvents& events, const LockCode& code, size_t threads)
    : events_(events), code_(code), by_lock_(group_releases(releases_, 0)) {
  GroupedIndices parks(events.parks, threads, [](const ThreadPark& p) { return p.thread.value; });
  GroupedIndices unparks(events.unparks, threads, [](const Unpark& u) { return u.target.value; });
  parks_.reserve(events.parks.size());
  for (size_t thread = 0; thread < threads; ++thread) {
    if (parks.of(thread).empty()) continue;
    bundle(in_order(events.parks, parks.of(thread)), in_order(events.unparks, unparks.of(thread)));
  }
  add_releases_by_conditions();
  std::sort(releases_.begin(), releases_.end(), [](const Release& a, const Release& b) {
    return std::tie(a.sequence, a.time_ns, a.thread, a.stack, a.lock) <
           std::tie(b.sequence, b.time_ns, b.thread, b.stack, b.lock);
  });
  find_holding_times(threads);
  by_lock_ = group_releases(releases_, events.locks.size());
}

void ParkBundles::bundle(std::span<const uint32_t> parks, std::span<const uint32_t> unparks) {
  const ThreadPark* before = nullptr;  // the park before
  int64_t passed = 0;                  // all unparks up to there belong to parks before
  size_t next = 0;
  for (const uint32_t index : parks) {
    const ThreadPark& park = events_.parks[index];
    BundledPark bundled{.park = index};
    const int64_t end = park.end_sequence > 0 ? park.end_sequence : park.sequence > 0 ? INT64_MAX : 0;
    for (; next < unparks.size() && events_.unparks[unparks[next]].sequence < end; ++next) {
      const Unpark& unpark = events_.unparks[unparks[next]];
      if (unpark.sequence <= passed) continue;
      if (park.end_sequence > 0) bundled.ended_by = unparks[next];
      // One that came before the thread parked may have been meant for what it waited for the last time.
      const bool sure = unpark.sequence > park.sequence || (before != nullptr && before->blocker == park.blocker);
      if (park.blocker == kNoLock || !sure) continue;
      releases_.push_back({.sequence = unpark.sequence,
                           .time_ns = unpark.time_ns,
                           .lock = park.blocker,
                           .thread = unpark.thread,
                           .stack = unpark.stack});
    }
    passed = std::max({passed, park.sequence, park.end_sequence});
    before = &park;
    parks_.push_back(bundled);
  }
}

// A signal puts the waiting thread into the queue of the lock, still parked for the condition: what wakes it up is the
// release of the lock. Which lock that is tell those who had to park for it afterwards, still in their call of await.
void ParkBundles::add_releases_by_conditions() {
  constexpr LockIndex kSeveral(UINT32_MAX - 1);
  std::vector<LockIndex> lock_of(events_.locks.size(), kNoLock);  // by condition
  for (size_t i = 1; i < parks_.size(); ++i) {
    const ThreadPark& before = events_.parks[parks_[i - 1].park];
    const ThreadPark& park = events_.parks[parks_[i].park];
    const bool came_back = before.thread == park.thread && before.blocker != kNoLock && park.blocker != kNoLock &&
                           code_.group_of(before.blocker, before.stack) == LockGroup::kCondition &&
                           code_.group_of(park.blocker, park.stack) == LockGroup::kJuc && code_.after_wait(park.stack);
    if (!came_back) continue;
    LockIndex& known = lock_of[before.blocker.value];
    known = known == kNoLock || known == park.blocker ? park.blocker : kSeveral;
  }
  const size_t seen = releases_.size();
  for (size_t i = 0; i < seen; ++i) {
    Release release = releases_[i];
    const LockIndex lock = lock_of[release.lock.value];
    if (lock == kNoLock || lock == kSeveral || code_.is_signal(release.stack)) continue;
    release.lock = lock;
    releases_.push_back(release);
  }
}

// Releases and parks of one thread, merged by their numbers: what it parked for last before a release, and of which
// lock.
void ParkBundles::find_holding_times(size_t threads) {
  const GroupedIndices releases(releases_, threads, [](const Release& r) { return r.thread.value; });
  const GroupedIndices parks(parks_, threads, [&](const BundledPark& b) { return events_.parks[b.park].thread.value; });
  for (size_t thread = 0; thread < threads; ++thread) {
    const ThreadPark* last = nullptr;
    size_t next = 0;
    const auto own = parks.of(thread);
    for (const uint32_t index : releases.of(thread)) {
      Release& release = releases_[index];
      for (; next < own.size() && events_.parks[parks_[own[next]].park].end_sequence < release.sequence; ++next) {
        last = &events_.parks[parks_[own[next]].park];
      }
      if (last != nullptr && last->blocker == release.lock && last->end_sequence > 0)
        release.held_since_ns = last->end_ns;
    }
  }
}

}  // namespace tarsier::analysis
