// The handlers of lock events: ours, and those of JFR itself, which have fewer fields.
#include <algorithm>

#include "analysis/loader.h"

namespace tarsier::analysis {

using recording::Chunk;
using recording::ConstantKey;
using recording::EventView;
using recording::FieldIndex;

namespace {

// Times beyond are damage (73 years from the epoch); within, differences don't overflow.
constexpr int64_t kLatest = int64_t{1} << 61;

int64_t as_time(int64_t ns) {
  return std::clamp(ns, -kLatest, kLatest);
}

// The clock of the events is the same for all threads, and finer than what parks and unparks need to lead to one
// another: so their times are their order. At the same time an unpark is first: it is what ends a park.
int64_t order_of_unpark(int64_t time_ns) {
  return 2 * time_ns;
}
int64_t order_of_park(int64_t time_ns) {
  return 2 * time_ns + 1;
}

uint32_t as_number(int64_t sequence) {
  return static_cast<uint32_t>(std::min<uint64_t>(static_cast<uint64_t>(sequence), UINT32_MAX));
}

}  // namespace

const Loader::WideType Loader::kLockTypes[] = {
    {"jdk.JavaMonitorEnter",
     &Loader::monitor_enter,
     {"eventThread", "stackTrace", "failure", "monitorClass", "identity", "address", "duration", "generation",
      "sequence", "previousOwner", "afterWait", "ongoing"}},
    {"tarsier.MonitorExit",
     &Loader::monitor_exit,
     {"eventThread", "stackTrace", "failure", "monitorClass", "identity", "address", "generation", "sequence",
      "nextOwner"}},
    {"jdk.ThreadPark",
     &Loader::thread_park,
     {"eventThread", "stackTrace", "failure", "parkedClass", "identity", "address", "duration", "sequence", "ongoing",
      "owner", "conditionOf", "conditionOfIdentity"}},
    {"tarsier.Unpark", &Loader::unpark, {"eventThread", "stackTrace", "failure", "target", "sequence"}},
    {"tarsier.LockHold",
     &Loader::lock_hold,
     {"eventThread", "stackTrace", "failure", "lockClass", "identity", "", "duration", "fromBefore"}},
    {"tarsier.Deadlock",
     &Loader::deadlock,
     {"eventThread", "stackTrace", "", "lockClass", "identity", "", "kind", "owner", "cycle"}},
};

void Loader::select_lock_types(Chunk& chunk) {
  for (const WideType& handled : kLockTypes) select_wide(chunk, handled);
}

// Thread, stack and failure are the first three fields of all of them.
Loader::LockMoment Loader::lock_moment(const Chunk& chunk, const EventView& event, const WideFields& fields) {
  const ResolvedStack resolved = resolve_stack(chunk, event.constant(fields[1]));
  LockMoment moment{.time_ns = as_time(event.start().count),
                    .thread = resolve_thread(chunk, event.constant(fields[0])),
                    .stack = resolved.stack,
                    .failed = resolved.failed};
  const std::string_view cause = event.string(fields[2]);
  if (cause.empty() && moment.stack != StackIndex(0)) return moment;
  Sample sample{.stack = moment.stack, .failed = moment.failed};
  fail(sample, cause);
  moment.stack = sample.stack;
  moment.failed = sample.failed;
  return moment;
}

ThreadIndex Loader::other_thread(const Chunk& chunk, const EventView& event, FieldIndex field) {
  const ConstantKey key = event.constant(field);
  return key.key == 0 ? kNobody : resolve_thread(chunk, key);
}

int64_t Loader::end_after(int64_t begin, int64_t duration) {
  duration = std::clamp<int64_t>(duration, 0, std::min(lock_time_left_, kLatest - begin));
  lock_time_left_ -= duration;
  return begin + duration;
}

LockIndex Loader::resolve_lock(const Chunk& chunk, const EventView& event, const WideFields& fields) {
  const auto& [u1, u2, u3, klass, identity, address, u4, u5, u6, u7, u8, u9, u13] = fields;
  const int64_t number = event.number(identity);
  return find_lock(
      {.klass = resolve_class(chunk, event.constant(klass)), .identity = number != 0 ? number : event.number(address)});
}

void Loader::monitor_enter(const Chunk& chunk, const EventView& event, const WideFields& fields) {
  const auto& [u1, u2, u3, u4, u5, u6, duration, generation, sequence, previous, after_wait, ongoing, u13] = fields;
  const LockMoment moment = lock_moment(chunk, event, fields);
  const bool goes_on = event.number(ongoing) != 0;
  // In its place, here and below: a copy of what was written just before is slow.
  MonitorEnter& enter = model_.locks.enters.emplace_back();
  enter.begin_ns = moment.time_ns;
  enter.end_ns = end_after(moment.time_ns, event.number(duration));
  enter.sequence = event.number(sequence);
  enter.period = {resolve_lock(chunk, event, fields), event.number(generation)};
  enter.thread = moment.thread;
  enter.stack = moment.stack;
  enter.previous_owner = other_thread(chunk, event, previous);
  enter.previous_at_end = !generation;
  enter.after_wait = event.number(after_wait) != 0;
  enter.entered = !goes_on;
  locks_.came(model_, enter.end_ns);
}

void Loader::monitor_exit(const Chunk& chunk, const EventView& event, const WideFields& fields) {
  const auto& [u1, u2, u3, u4, u5, u6, generation, sequence, next, u7, u8, u9, u13] = fields;
  const LockMoment moment = lock_moment(chunk, event, fields);
  MonitorExit& exit = model_.locks.exits.emplace_back();
  exit.time_ns = moment.time_ns;
  exit.sequence = event.number(sequence);
  exit.period = {resolve_lock(chunk, event, fields), event.number(generation)};
  exit.thread = moment.thread;
  exit.stack = moment.failed ? StackIndex(0) : moment.stack;
  exit.next_owner = other_thread(chunk, event, next);
  locks_.came(model_, moment.time_ns);
}

void Loader::thread_park(const Chunk& chunk, const EventView& event, const WideFields& fields) {
  const auto& [u1, u2, u3, klass, u4, u5, duration, sequence, ongoing, owner, of_class, of_identity, u13] = fields;
  const LockMoment moment = lock_moment(chunk, event, fields);
  const bool has_blocker = event.constant(klass).key != 0;
  const ConstantKey condition_of = event.constant(of_class);
  ThreadPark& park = model_.locks.parks.emplace_back();
  park.begin_ns = moment.time_ns;
  park.end_ns = end_after(moment.time_ns, event.number(duration));
  if (sequence) {
    park.sequence = order_of_park(park.begin_ns);
    park.end_sequence = event.number(ongoing) != 0 ? 0 : order_of_park(park.end_ns);
    park.number = as_number(event.number(sequence));
  }
  park.blocker = has_blocker ? resolve_lock(chunk, event, fields) : kNoLock;
  park.thread = moment.thread;
  park.stack = moment.stack;
  park.owner = other_thread(chunk, event, owner);
  if (condition_of.key != 0) {
    park.condition_of = find_lock({.klass = resolve_class(chunk, condition_of), .identity = event.number(of_identity)});
  }
  locks_.came(model_, park.end_ns);
}

void Loader::unpark(const Chunk& chunk, const EventView& event, const WideFields& fields) {
  const auto& [u1, u2, u3, target, sequence, u4, u5, u6, u7, u8, u9, u10, u13] = fields;
  const LockMoment moment = lock_moment(chunk, event, fields);
  Unpark& unpark = model_.locks.unparks.emplace_back();
  unpark.time_ns = moment.time_ns;
  unpark.sequence = order_of_unpark(moment.time_ns);
  unpark.number = as_number(event.number(sequence));
  unpark.thread = moment.thread;
  unpark.stack = moment.failed ? StackIndex(0) : moment.stack;
  unpark.target = other_thread(chunk, event, target);
  locks_.came(model_, moment.time_ns);
}

void Loader::lock_hold(const Chunk& chunk, const EventView& event, const WideFields& fields) {
  const auto& [u1, u2, u3, u4, u5, u6, duration, from_before, u7, u8, u9, u10, u13] = fields;
  const LockMoment moment = lock_moment(chunk, event, fields);
  const bool before = event.number(from_before) != 0;
  model_.locks.holds.push_back(
      {.begin_ns = before ? -kLatest : moment.time_ns,
       .end_ns = as_time(moment.time_ns + std::clamp<int64_t>(event.number(duration), 0, kLatest)),
       .lock = resolve_lock(chunk, event, fields),
       .thread = moment.thread,
       .stack = moment.failed ? StackIndex(0) : moment.stack,
       .from_before = before});
  locks_.came(model_, model_.locks.holds.back().end_ns);
}

}  // namespace tarsier::analysis
