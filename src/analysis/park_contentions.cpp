#include "analysis/park_contentions.h"

#include <algorithm>
#include <tuple>

#include "analysis/partition_near.h"
#include "analysis/prefetch.h"

namespace tarsier::analysis {
namespace {

bool in_order(const Release& a, const Release& b) {
  return std::tie(a.sequence, a.time_ns, a.thread, a.stack) < std::tie(b.sequence, b.time_ns, b.thread, b.stack);
}

}  // namespace

void ParkContentions::settle(const LockEvents& events, Horizon horizon, SettledEvents& settled) {
  new_releases_.clear();
  bundles_.settle(events, horizon, settled, waiting_, new_releases_);
  holders_.settle(events, settled);
  if (waiting_.empty()) return;
  const size_t locks = events.locks.size();
  releases_.resize(locks + 1);
  const auto slot_of = [&](LockIndex lock) { return lock == kNoLock ? static_cast<uint32_t>(locks) : lock.value; };

  by_lock_.start(locks + 1);
  for (const Release& release : new_releases_) by_lock_.count(release.lock.value);
  by_lock_.counted();
  for (const Release& release : new_releases_) by_lock_.put(release.lock.value, release);
  const auto ready = [&](const BundledPark& bundled) { return bundled.park.end_ns <= horizon.final_ns; };
  ready_.start(locks + 1);
  for (const BundledPark& bundled : waiting_) {
    if (ready(bundled)) ready_.count(slot_of(bundled.park.blocker));
  }
  ready_.counted();
  later_.clear();
  for (uint32_t i = 0; i < waiting_.size(); ++i) {
    if (ready(waiting_[i])) {
      ready_.put(slot_of(waiting_[i].park.blocker), i);
    } else {
      later_.push_back(waiting_[i]);
    }
  }

  for (size_t slot = 0; slot < by_lock_.groups().size(); ++slot) {
    const std::span<Release> added = by_lock_.at(slot);
    if (!std::is_sorted(added.begin(), added.end(), in_order)) std::sort(added.begin(), added.end(), in_order);
    add_releases(releases_[by_lock_.groups()[slot]], added);
  }
  for (size_t slot = 0; slot < ready_.groups().size(); ++slot) {
    Releases& releases = releases_[ready_.groups()[slot]];
    for (const uint32_t& i : ready_.at(slot)) {
      const size_t ahead = static_cast<size_t>(&i - ready_.items().data()) + kPrefetchAhead;
      if (ahead < ready_.items().size()) prefetch(waiting_[ready_.items()[ahead]]);
      tell(waiting_[i], releases);
    }
  }
  waiting_.swap(later_);
  if (changes_ > limits_.changes) forget_old_releases(horizon.final_ns);
}

void ParkContentions::add_releases(Releases& releases, std::span<const Release> added) {
  auto& kept = releases.kept;
  const auto middle = static_cast<std::ptrdiff_t>(kept.size());
  const bool append = kept.empty() || !in_order(added.front(), kept.back());
  kept.insert(kept.end(), added.begin(), added.end());
  if (!append) std::inplace_merge(kept.begin(), kept.begin() + middle, kept.end(), in_order);
  changes_ += added.size();
}

void ParkContentions::tell(const BundledPark& bundled, Releases& releases) {
  const ThreadPark& park = bundled.park;
  Contention contention{.begin_ns = park.begin_ns,
                        .end_ns = park.end_ns,
                        .lock = park.blocker,
                        .thread = park.thread,
                        .stack = park.stack,
                        .group = code_.group_of(park.blocker, park.stack)};
  contention.after_wait = is_lock(contention.group) && code_.after_wait(park.stack);
  cut(contention, bundled, releases);
  sink_(contention, pieces_.pieces());
}

void ParkContentions::cut(const Contention& contention, const BundledPark& bundled, Releases& releases) {
  const ThreadPark& park = bundled.park;
  pieces_.start(contention);
  const int64_t held_until = bundled.unparked ? std::min(bundled.unpark_ns, park.end_ns) : park.end_ns;
  const bool holders_known = park.blocker != kNoLock && holders_.cut(park, held_until, pieces_, budget_);
  if (!holders_known && park.blocker != kNoLock && park.sequence > 0) {
    const int64_t end = park.end_sequence > 0 ? park.end_sequence : INT64_MAX;
    at_releases(park, bundled.unparked ? bundled.unpark_sequence : end, releases);
  }
  // Whoever was there when it began, and was not seen to let go.
  const bool nothing_seen = pieces_.pieces().empty();
  if (nothing_seen && !bundled.unparked && park.owner != kNobody) {
    pieces_.until(INT64_MAX, Owner::only_thread(park.owner));
  }
  pieces_.until(INT64_MAX, bundled.unparked && park.blocker != kNoLock ? Owner::hand_off() : Owner::unknown());
}

void ParkContentions::at_releases(const ThreadPark& park, int64_t last, Releases& of_lock) {
  const std::vector<Release>& releases = of_lock.kept;
  // Parks come thread by thread, and of each in the order of their numbers.
  of_lock.near =
      partition_near(releases, of_lock.near, [&](const Release& release) { return release.sequence <= park.sequence; });
  const auto first = releases.begin() + static_cast<std::ptrdiff_t>(of_lock.near);
  if (park.sequence < of_lock.forgotten) {
    ++account_.forgotten;
    pieces_.until(first == releases.end() ? INT64_MAX : first->time_ns, Owner::unknown());
  }
  for (auto release = first; release != releases.end() && !pieces_.complete(); ++release) {
    if (release->sequence > last) return;
    if (!budget_.take()) {
      ++account_.uncut;
      return;
    }
    if (release->thread == park.thread) continue;  // it is parked: that can't be
    const bool of_other = pieces_.pieces().empty() && park.owner != kNobody && park.owner != release->thread;
    if (of_other) {
      // That one let go unseen; the releaser has had it since it was woken up itself, if it was.
      const bool known = release->held_since_ns > park.begin_ns;
      pieces_.until(known ? std::min(release->held_since_ns, release->time_ns) : release->time_ns,
                    Owner::only_thread(park.owner));
    }
    pieces_.until(release->time_ns, Owner::released(release->thread, release->stack));
  }
}

// The older half, by time, until enough is gone.
void ParkContentions::forget_old_releases(int64_t newest) {
  int64_t oldest = newest;
  for (const Releases& releases : releases_) {
    if (!releases.kept.empty()) oldest = std::min(oldest, releases.kept.front().time_ns);
  }
  while (changes_ > limits_.changes / 2 && oldest < newest) {
    oldest += (newest - oldest + 1) / 2;
    for (Releases& releases : releases_) {
      auto& kept = releases.kept;
      const auto end = std::find_if(kept.begin(), kept.end(), [&](const Release& r) { return r.time_ns >= oldest; });
      if (end == kept.begin()) continue;
      releases.forgotten = std::prev(end)->sequence;
      changes_ -= static_cast<size_t>(end - kept.begin());
      kept.erase(kept.begin(), end);
      if (kept.empty()) kept = {};
    }
  }
}

}  // namespace tarsier::analysis
