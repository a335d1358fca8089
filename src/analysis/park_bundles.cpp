#include "analysis/park_bundles.h"

#include <algorithm>
#include <tuple>

#include "analysis/partition_near.h"

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

}  // namespace

// Leaves out duplicates, which are settled thereby.
template <class Event>
std::span<uint32_t> ParkBundles::in_order(const std::vector<Event>& all, std::span<uint32_t> indices,
                                          std::vector<bool>& settled) {
  // Numbers decide nearly always, and are brought together for that: events lie far from each other.
  numbers_.clear();
  for (const uint32_t i : indices) numbers_.push_back({all[i].sequence, i});
  const auto before = [&](const Number& a, const Number& b) {
    return a.sequence != b.sequence ? a.sequence < b.sequence : key_of(all[a.index]) < key_of(all[b.index]);
  };
  if (!std::is_sorted(numbers_.begin(), numbers_.end(), before)) {
    std::sort(numbers_.begin(), numbers_.end(), before);
    for (size_t i = 0; i < indices.size(); ++i) indices[i] = numbers_[i].index;
  }
  size_t kept = 0;
  for (const uint32_t i : indices) {
    if (kept > 0 && same(all[indices[kept - 1]], all[i])) {
      settled[i] = true;
    } else {
      indices[kept++] = i;
    }
  }
  return indices.first(kept);
}

void ParkBundles::settle(const LockEvents& events, Horizon horizon, SettledEvents& settled,
                         std::vector<BundledPark>& parks, std::vector<Release>& releases) {
  events_ = &events;
  settled_ = &settled;
  parks_ = &parks;
  releases_ = &releases;
  const size_t first_release = releases.size();
  group(events, horizon);
  for (size_t slot = 0; slot < parks_of_.groups().size(); ++slot) {
    const uint32_t thread = parks_of_.groups()[slot];
    bundle(pasts_[thread], in_order(events.parks, parks_of_.at(slot), settled.parks),
           in_order(events.unparks, unparks_of_.of(thread), settled.unparks));
  }
  find_holding_times(first_release);
  if (horizon.end()) return;
  // What is still there was meant for threads that have not parked since. The next park will return at once.
  constexpr int64_t kLong = 10'000'000'000;
  for (size_t slot = 0; slot < unparks_of_.groups().size(); ++slot) {
    drop_old_unparks(unparks_of_.at(slot), horizon.final_ns - kLong);
  }
}

void ParkBundles::group(const LockEvents& events, Horizon horizon) {
  const auto complete = [&](const ThreadPark& park) {
    return horizon.end() || (park.end_ns <= horizon.complete_ns && (park.end_sequence > 0 || park.sequence == 0));
  };
  size_t threads = pasts_.size();
  for (const ThreadPark& park : events.parks) threads = std::max<size_t>(threads, park.thread.value + size_t{1});
  pasts_.resize(threads);
  parks_of_.start(threads);
  for (const ThreadPark& park : events.parks) {
    if (complete(park)) parks_of_.count(park.thread.value);
  }
  parks_of_.counted();
  for (uint32_t i = 0; i < events.parks.size(); ++i) {
    if (complete(events.parks[i])) parks_of_.put(events.parks[i].thread.value, i);
  }
  // Whoever has never parked may do so yet.
  const auto known = [&](const Unpark& unpark) { return unpark.target.value < threads; };
  unparks_of_.start(threads);
  for (const Unpark& unpark : events.unparks) {
    if (known(unpark)) unparks_of_.count(unpark.target.value);
  }
  unparks_of_.counted();
  for (uint32_t i = 0; i < events.unparks.size(); ++i) {
    if (known(events.unparks[i])) {
      unparks_of_.put(events.unparks[i].target.value, i);
    } else {
      settled_->unparks[i] = events.unparks[i].target == kNobody || events.unparks[i].time_ns < horizon.final_ns;
    }
  }
}

void ParkBundles::bundle(Past& past, std::span<const uint32_t> parks, std::span<const uint32_t> unparks) {
  size_t next = 0;
  for (const uint32_t index : parks) {
    const ThreadPark& park = events_->parks[index];
    settled_->parks[index] = true;
    const bool again = park.sequence == past.last_sequence && park.begin_ns == past.last_begin_ns;
    if (park.sequence > 0 && (park.sequence < past.last_sequence || again)) {
      ++account_.late;  // or it is told twice; a thread's own events come in their order
      continue;
    }
    BundledPark& bundled = parks_->emplace_back();
    bundled.park = park;
    const int64_t end = park.end_sequence > 0 ? park.end_sequence : park.sequence > 0 ? INT64_MAX : 0;
    for (; next < unparks.size() && events_->unparks[unparks[next]].sequence < end; ++next) {
      const Unpark& unpark = events_->unparks[unparks[next]];
      settled_->unparks[unparks[next]] = true;
      if (unpark.sequence <= past.passed) {
        account_.late += unpark.sequence > 0 ? 1 : 0;
        continue;
      }
      if (park.end_sequence > 0) {
        bundled.unparked = true;
        bundled.unpark_sequence = unpark.sequence;
        bundled.unpark_ns = unpark.time_ns;
      }
      // One that came before the thread parked may have been meant for what it waited for the last time.
      const bool sure = unpark.sequence > park.sequence || (past.parked && past.blocker == park.blocker);
      if (park.blocker == kNoLock || !sure) continue;
      Release release{.sequence = unpark.sequence,
                      .time_ns = unpark.time_ns,
                      .lock = park.blocker,
                      .thread = unpark.thread,
                      .stack = unpark.stack};
      releases_->push_back(release);
      // A signal puts the waiting thread into the queue of the lock, still parked for the condition: what wakes it up
      // is the release of the lock.
      if (park.condition_of == kNoLock || code_.is_signal(unpark.stack)) continue;
      release.lock = park.condition_of;
      releases_->push_back(release);
    }
    past.parked = true;
    past.last_sequence = park.sequence;
    past.last_begin_ns = park.begin_ns;
    past.passed = std::max({past.passed, park.sequence, park.end_sequence});
    past.blocker = park.blocker;
    past.recent.push_back({park.end_sequence, park.end_ns, park.blocker});
  }
}

// What its thread parked for last before a release, and of which lock.
void ParkBundles::find_holding_times(size_t first) {
  for (size_t i = first; i < releases_->size(); ++i) {
    Release& release = (*releases_)[i];
    if (release.thread.value >= pasts_.size()) continue;
    Past& releasing = pasts_[release.thread.value];
    // Releases come target by target, and of each in the order of their numbers.
    releasing.near = partition_near(releasing.recent, releasing.near,
                                    [&](const EndedPark& park) { return park.end_sequence < release.sequence; });
    if (releasing.near == 0) continue;
    const EndedPark& last = releasing.recent[releasing.near - 1];
    if (last.blocker == release.lock && last.end_sequence > 0) release.held_since_ns = last.end_ns;
  }
  for (const uint32_t thread : parks_of_.groups()) {
    // Releases that become known later may be somewhat older.
    constexpr size_t kKept = 16;
    auto& recent = pasts_[thread].recent;
    if (recent.size() > kKept) recent.erase(recent.begin(), recent.end() - kKept);
  }
}

// Of each thread the newest stays.
void ParkBundles::drop_old_unparks(std::span<const uint32_t> unparks, int64_t until) {
  uint32_t newest = UINT32_MAX;
  for (const uint32_t i : unparks) {
    if (settled_->unparks[i] || events_->unparks[i].time_ns >= until) continue;
    if (newest != UINT32_MAX) {
      const bool newer = events_->unparks[i].sequence > events_->unparks[newest].sequence;
      settled_->unparks[newer ? newest : i] = true;
      ++account_.late;
      if (!newer) continue;
    }
    newest = i;
  }
}

}  // namespace tarsier::analysis
