#include "agent/engines/wait_account.h"

#include <algorithm>
#include <utility>

namespace tarsier::agent {

WaitAccount::WaitAccount(const WaitLimits& limits, const ThreadLook& first)
    : limits_(limits), first_(first), last_(first) {
  if (first.asleep) open_ = Wait{first.at, Nanos(0), true};
}

std::optional<WaitAccount::Wait> WaitAccount::update(const ThreadLook& look) {
  uint64_t begun = look.waits - std::min(last_.waits, look.waits);
  const Nanos rest = take_what_was_slept(look);
  last_ = look;

  // What is read of a thread that runs is not of one moment: a wait may have been counted before it was slept.
  const uint64_t counted_before = begun == 0 && !open_ && rest >= limits_.min ? 1 : 0;
  begun += counted_before;
  const uint64_t sharers = (open_ ? 1 : 0) + begun;
  if (sharers == 0) {
    sums_.shorter.add(rest, 0);  // microseconds between our readings
    return std::nullopt;
  }
  const Nanos share(rest.count / static_cast<int64_t>(sharers));
  std::optional<Wait> ended;
  if (open_) {
    open_->length += share;
    if (begun > 0 || !look.asleep) ended = std::exchange(open_, std::nullopt);
  }
  const bool new_one = look.asleep && begun > 0;
  const uint64_t unseen = begun - (new_one ? 1 : 0);
  if (unseen > 0) {
    (share < limits_.min ? sums_.shorter : sums_.missed).add(share * static_cast<int64_t>(unseen), unseen);
  }
  // The last one takes what the division has left.
  const Nanos left = rest - share * static_cast<int64_t>(sharers);
  if (new_one) {
    open_ = Wait{look.at - (share + left), share + left, false};
  } else {
    sums_.shorter.add(left, 0);
  }
  return ended;
}

// Since the last look, as far as it has no owner yet.
Nanos WaitAccount::take_what_was_slept(const ThreadLook& look) {
  Nanos rest = slept(look) - slept(first_) - shared_out_;
  if (rest.count < 0) {
    // It was woken, and stood in the run queue, while it was still taken for asleep.
    const Nanos too_much = open_ ? std::min(Nanos(-rest.count), open_->length) : Nanos(0);
    if (open_) open_->length -= too_much;
    shared_out_ -= too_much;
    // What is still too little comes from clocks that are read one after the other: the next look makes up for it.
    rest = Nanos(0);
  }
  shared_out_ += rest;
  return rest;
}

void WaitAccount::sleeps_on(Nanos now) {
  const Nanos more = now - last_.at;
  if (!open_ || more.count <= 0) return;
  open_->length += more;
  shared_out_ += more;
  last_.at = now;
}

void WaitAccount::settle(const Wait& wait, bool written) {
  if (wait.length < limits_.min) {
    sums_.shorter.add(wait.length);
  } else if (!deserves_event(wait)) {
    sums_.longer.add(wait.length);
  } else {
    (written ? sums_.written : sums_.missed).add(wait.length);
  }
}

}  // namespace tarsier::agent
