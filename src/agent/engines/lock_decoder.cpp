#include "agent/engines/lock_decoder.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "agent/method_names.h"
#include "base/clock.h"

namespace tarsier::agent {
namespace {

constexpr uint64_t kVirtual = uint64_t{1} << 63;
constexpr int64_t kNone = std::numeric_limits<int64_t>::min();  // as JFR writes it

std::string_view or_null(const std::string& text) {
  return text.empty() ? std::string_view() : std::string_view(text);
}

const char* name_of(LockAct act) {
  return act == LockAct::kExit ? "exit" : act == LockAct::kWaits ? "wait" : "unlock";
}

std::string_view name_of(LockEnd end) {
  return end == LockEnd::kTimeout ? "timeout" : end == LockEnd::kInterrupt ? "interrupt" : std::string_view();
}

std::string_view name_of(HoldMode mode) {
  constexpr std::string_view kNames[] = {"read", "write", "permit", "latch"};
  static_assert(std::size(kNames) == static_cast<size_t>(HoldMode::kCount));
  return kNames[static_cast<size_t>(mode)];
}

Nanos at(const LockRecord& record) {
  return Nanos(static_cast<int64_t>(record.time_ns));
}

}  // namespace

void LockDecoder::start_over_if_forgotten() {
  if (generation_ == context_.writer.generation()) return;
  generation_ = context_.writer.generation();
  for (Class& klass : classes_) klass.id = {};
  chains_.clear();
  recent_chains_ = {};
}

LockDecoder::Key LockDecoder::key_of(const LockRecord& record) {
  return record.virtual_id != 0 ? kVirtual | static_cast<uint64_t>(record.virtual_id) : record.thread;
}

void LockDecoder::name(const LockName& name) {
  if (name.number < first_lock_) return;
  const size_t most = static_cast<size_t>(context_.options.memory.count) / 8 / sizeof(Lock);
  if (name.number - first_lock_ >= most) forget_older_locks();
  const size_t index = name.number - first_lock_;
  if (index >= locks_.size()) locks_.resize(index + 1);
  locks_[index] = {class_number(class_name_of(name.text())), name.identity};
}

uint32_t LockDecoder::class_number(std::string_view name) {
  const auto [it, is_new] = class_numbers_.try_emplace(std::string(name), static_cast<uint32_t>(classes_.size()));
  if (is_new) classes_.push_back({it->first});
  return it->second;
}

// The older half, and classes that only they had.
void LockDecoder::forget_older_locks() {
  const size_t gone = locks_.size() / 2 + 1;
  locks_.erase(locks_.begin(), locks_.begin() + static_cast<std::ptrdiff_t>(std::min(gone, locks_.size())));
  first_lock_ += static_cast<uint32_t>(gone);
  const std::vector<Class> before = std::exchange(classes_, std::vector<Class>(1));
  class_numbers_.clear();
  for (Lock& lock : locks_) {
    if (lock.klass != 0) lock.klass = class_number(before[lock.klass].name);
  }
}

void LockDecoder::chain(const capture::FragmentRecord& record) {
  stacks_.decode(record);
  kept_.push_back(record.thread);
  // Those before stay for as long as somebody may still write their numbers, as a rule.
  constexpr size_t kBytesOfOne = 4 << 10;
  if (kept_.size() < static_cast<size_t>(context_.options.memory.count) / 8 / kBytesOfOne) return;
  capture_.forget_chains();
  for (const uint32_t number : kept_before_) {
    stacks_.forget_kept(number);
    chains_.erase(number);
  }
  recent_chains_ = {};
  kept_before_ = std::move(kept_);
  kept_.clear();
}

const LockDecoder::Chain& LockDecoder::chain_of(uint32_t number) {
  auto& recent = recent_chains_[number % recent_chains_.size()];
  if (recent.number == number && recent.value != nullptr) return *recent.value;
  const auto [it, is_new] = chains_.try_emplace(number);
  Chain& chain = it->second;
  if (is_new && number == 0) {
    chain.failure = "not_copied";
  } else if (is_new) {
    const auto kept = stacks_.kept(number);
    chain = kept ? Chain{kept->stack, std::string(kept->failure)} : Chain{{}, "forgotten"};
  }
  recent = {number, &chain};
  return chain;
}

LockDecoder::Lock LockDecoder::lock_of(uint32_t number) const {
  const size_t index = number - first_lock_;
  return number >= first_lock_ && index < locks_.size() ? locks_[index] : Lock();
}

recording::ClassId LockDecoder::class_of(uint32_t number) {
  const uint32_t index = lock_of(number).klass;
  Class& klass = classes_[index];
  if (index != 0 && klass.id == recording::ClassId()) klass.id = context_.writer.klass(klass.name);
  return klass.id;
}

recording::ThreadId LockDecoder::thread_of(const LockRecord& record) {
  return stacks_.thread(record.thread, record.virtual_id);
}
recording::ThreadId LockDecoder::carrier_of(const LockRecord& record) {
  return record.virtual_id != 0 ? stacks_.thread(record.thread, 0) : recording::ThreadId();
}
recording::ThreadId LockDecoder::thread_by_java_id(int64_t id) {
  if (id == 0) return {};
  auto& recent = recent_serials_[static_cast<uint64_t>(id) % recent_serials_.size()];
  if (recent.number != id || recent.value == 0) recent = {id, capture_.known_threads().serial_of(id)};
  return stacks_.thread(recent.value, recent.value == 0 ? id : 0);
}

void LockDecoder::count(const Chain& chain) {
  ++counts_.written;
  counts_.failed += chain.failure.empty() ? 0 : 1;
}

void LockDecoder::event(const LockRecord& record) {
  has_virtual_ = has_virtual_ || record.virtual_id != 0;
  if (record.virtual_id != 0 || (has_virtual_ && !owner_is_id_)) {
    unordered_.push_back(record);
    // More than there may be: then in the order of what there is.
    if (unordered_.size() * sizeof(record) > static_cast<size_t>(context_.options.memory.count) / 16)
      seen_until(monotonic_now());
  } else {
    take(record);
  }
}

void LockDecoder::seen_until(Nanos time) {
  std::sort(unordered_.begin(), unordered_.end(),
            [](const LockRecord& a, const LockRecord& b) { return a.time_ns < b.time_ns; });
  const auto later = std::partition_point(unordered_.begin(), unordered_.end(),
                                          [&](const LockRecord& record) { return at(record) <= time; });
  for (auto record = unordered_.begin(); record != later; ++record) take(*record);
  unordered_.erase(unordered_.begin(), later);
}

void LockDecoder::take(const LockRecord& record) {
  start_over_if_forgotten();
  switch (record.act) {
    case LockAct::kBlocked:
      return begins(blocked_, record);
    case LockAct::kEntered:
      return ends(blocked_, record);
    case LockAct::kPark:
      return write_park(record, Nanos(static_cast<int64_t>(record.sequence)), record.end);
    case LockAct::kParkBegins:
      return begins(parks_, record);
    case LockAct::kParkEnds:
      return ends(parks_, record);
    case LockAct::kExit:
    case LockAct::kUnlocked:
    case LockAct::kWaits:
      return write_exit(record);
    case LockAct::kWaited:
      return write_wait(record);
    case LockAct::kUnpark:
      return write_unpark(record);
    case LockAct::kHold:
      return write_hold(record, false);
  }
}

void LockDecoder::begins(Begins& begins, const LockRecord& record) {
  const auto [begin, is_new] = begins.of.insert_or_assign(key_of(record), Begin{record, true});
  if (!is_new || begins.of.size() < begins.most) return;
  std::erase_if(begins.of, [](const auto& each) { return !each.second.open; });
  begins.most = std::max(Begins::kMany, 2 * begins.of.size());
}

void LockDecoder::ends(Begins& begins, const LockRecord& record) {
  const auto begin = begins.of.find(key_of(record));
  if (begin == begins.of.end() || !begin->second.open) {
    ++counts_.no_begin;
    return;
  }
  begin->second.open = false;
  write_pair(begin->second.record, &record);
}

void LockDecoder::write_pair(const LockRecord& begin, const LockRecord* end) {
  if (begin.act == LockAct::kBlocked) return write_blocked(begin, end);
  write_park(begin, end != nullptr ? std::optional(at(*end)) : std::nullopt,
             end != nullptr ? end->end : LockEnd::kOther);
}

// The JVM says that a carrier has the monitor. Until it has released it, the virtual thread that did so was on it.
recording::ThreadId LockDecoder::previous_owner_of(const LockRecord& begin) {
  const auto [serial, virtual_id] = capture_.known_threads().owner_of(begin.other, owner_is_id_, at(begin));
  const auto released = last_release_.find(serial);
  if (virtual_id == 0 && released != last_release_.end() && released->second.time_ns >= begin.time_ns) {
    return stacks_.thread(serial, released->second.virtual_id);
  }
  return serial != 0 || virtual_id != 0 ? stacks_.thread(serial, virtual_id) : recording::ThreadId();
}

recording::ThreadId LockDecoder::next_owner_of(const LockRecord& release) {
  const auto [serial, virtual_id] = capture_.known_threads().owner_of(release.other, owner_is_id_, at(release));
  const auto released = last_release_.find(serial);
  // Which of the virtual threads on it is not known yet.
  const bool is_carrier = virtual_id == 0 && released != last_release_.end() && released->second.virtual_id != 0;
  return (serial != 0 || virtual_id != 0) && !is_carrier ? stacks_.thread(serial, virtual_id) : recording::ThreadId();
}

void LockDecoder::write_blocked(const LockRecord& begin, const LockRecord* end) {
  const Chain& chain = chain_of(begin.chain);
  const int64_t until = end != nullptr ? at(*end).count : monotonic_now().count;
  const uint32_t lock = begin.lock != 0 || end == nullptr ? begin.lock : end->lock;
  const recording::Value values[] = {
      until - at(begin).count,
      thread_of(begin),
      chain.stack,
      class_of(lock),
      previous_owner_of(begin),
      static_cast<int64_t>(begin.object),
      identity_of(lock),
      static_cast<int64_t>(begin.generation),
      static_cast<int64_t>(end != nullptr ? end->sequence : 0),
      static_cast<int64_t>(begin.after_wait),
      static_cast<int64_t>(end == nullptr),
      or_null(chain.failure),
      carrier_of(begin),
  };
  context_.writer.event(recording::Event::kJavaMonitorEnter, at(begin), values);
  ++counts_.monitors;
  count(chain);
}

void LockDecoder::write_exit(const LockRecord& record) {
  if (has_virtual_ && !owner_is_id_) last_release_[record.thread] = {record.virtual_id, record.time_ns};
  const Chain& chain = chain_of(record.chain);
  const recording::Value values[] = {
      thread_of(record),
      chain.stack,
      class_of(record.lock),
      static_cast<int64_t>(record.object),
      identity_of(record.lock),
      static_cast<int64_t>(record.generation),
      static_cast<int64_t>(record.sequence),
      std::string_view(name_of(record.act)),
      next_owner_of(record),
      or_null(chain.failure),
      carrier_of(record),
  };
  context_.writer.event(recording::Event::kMonitorExit, at(record), values);
  ++counts_.exits;
  count(chain);
}

void LockDecoder::write_wait(const LockRecord& record) {
  constexpr uint64_t kLongest = std::numeric_limits<int64_t>::max();
  const Chain& chain = chain_of(record.chain);
  const recording::Value values[] = {
      static_cast<int64_t>(record.sequence),
      thread_of(record),
      chain.stack,
      class_of(record.lock),
      record.other != 0 ? stacks_.thread(static_cast<uint32_t>(record.other), 0) : recording::ThreadId(),
      static_cast<int64_t>(std::min<uint64_t>(record.generation, kLongest / 1'000'000) * 1'000'000),
      static_cast<int64_t>(record.end == LockEnd::kTimeout),
      static_cast<int64_t>(record.object),
      identity_of(record.lock),
      or_null(chain.failure),
  };
  context_.writer.event(recording::Event::kJavaMonitorWait, at(record), values);
  ++counts_.waits;
  count(chain);
}

void LockDecoder::write_park(const LockRecord& begin, std::optional<Nanos> end, LockEnd how) {
  const Chain& chain = chain_of(begin.chain);
  const int64_t until = end ? end->count : monotonic_now().count;
  const auto time = static_cast<int64_t>(begin.object);
  const bool has_timeout = !begin.is_deadline && time != 0;
  // A virtual thread comes back without knowing for how long it wanted to park.
  if (begin.virtual_id != 0 && how == LockEnd::kOther && has_timeout && until - at(begin).count >= time)
    how = LockEnd::kTimeout;
  const recording::Value values[] = {
      until - at(begin).count,
      thread_of(begin),
      chain.stack,
      class_of(begin.lock),
      has_timeout ? time : kNone,
      begin.is_deadline ? time : kNone,
      int64_t{0},
      identity_of(begin.lock),
      ++last_park_or_unpark_,
      thread_by_java_id(static_cast<int64_t>(begin.other)),
      static_cast<int64_t>(!end),
      or_null(chain.failure),
      carrier_of(begin),
      name_of(how),
      class_of(static_cast<uint32_t>(begin.generation)),
      identity_of(static_cast<uint32_t>(begin.generation)),
  };
  context_.writer.event(recording::Event::kThreadPark, at(begin), values);
  ++counts_.parks;
  count(chain);
}

void LockDecoder::write_unpark(const LockRecord& record) {
  const Chain& chain = chain_of(record.chain);
  const recording::Value values[] = {
      thread_of(record),
      chain.stack,
      thread_by_java_id(static_cast<int64_t>(record.other)),
      ++last_park_or_unpark_,
      or_null(chain.failure),
      carrier_of(record),
  };
  context_.writer.event(recording::Event::kUnpark, at(record), values);
  ++counts_.unparks;
  count(chain);
}

void LockDecoder::write_hold(const LockRecord& record, bool ongoing) {
  const Chain& chain = chain_of(record.chain);
  const bool has_begin = record.object != 0;
  const Nanos begin = has_begin ? Nanos(static_cast<int64_t>(record.object)) : at(record);
  const recording::Value values[] = {
      (at(record) - begin).count,
      thread_of(record),
      chain.stack,
      class_of(record.lock),
      identity_of(record.lock),
      name_of(static_cast<HoldMode>(record.other)),
      static_cast<int64_t>(!has_begin),
      static_cast<int64_t>(ongoing),
      or_null(chain.failure),
      carrier_of(record),
  };
  context_.writer.event(recording::Event::kLockHold, begin, values);
  ++counts_.holds;
  count(chain);
}

void LockDecoder::ongoing_hold(const LockRecord& record) {
  start_over_if_forgotten();
  write_hold(record, true);
  ++counts_.ongoing;
}

void LockDecoder::ongoing_park(const LockRecord& record) {
  start_over_if_forgotten();
  write_park(record, std::nullopt, LockEnd::kOther);
  ++counts_.ongoing;
}

void LockDecoder::write_ongoing() {
  seen_until(monotonic_now());
  start_over_if_forgotten();
  for (const Begins* begins : {&blocked_, &parks_}) {
    for (const auto& [key, begin] : begins->of) {
      if (!begin.open) continue;
      write_pair(begin.record, nullptr);
      ++counts_.ongoing;
    }
  }
  blocked_.of.clear();
  parks_.of.clear();
}

}  // namespace tarsier::agent
