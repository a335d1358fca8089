#include "agent/engines/lock_capture.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "agent/engines/lock_local.h"
#include "agent/jvm.h"
#include "capture/field.h"

namespace tarsier::agent {

using capture::ContendedMonitor;
using capture::field;

namespace {

constexpr size_t kKnownChains = size_t{1} << 15;
constexpr size_t kKnownNames = size_t{1} << 16;
// They stay: a monitor's place in memory is used again for the next one, so there are not many more than there ever
// were at a time. What is never used takes no memory.
constexpr size_t kMonitors = size_t{1} << 17;
constexpr size_t kHolds = size_t{1} << 16;
constexpr size_t kSleepers = size_t{1} << 14;
// An owner that takes its monitor again before one of those that are blocked has woken up releases it time and again:
// within this time once is enough, if nobody else has had it.
constexpr uint64_t kAgainNs = 10'000;

uint64_t next_session() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

LockCapture::Local& LockCapture::local() noexcept {
  static thread_local Local local;
  return local;
}

void LockCapture::add_counters_to(LockCounters& sum) {
  sum.add(counters_);
  known_threads_.add_to(sum);
}

LockCapture::LockCapture(ThreadRegistry& threads, const hotspot::ThreadFields& fields,
                         const hotspot::VirtualThreadLayout* virtual_threads, const LockLayout& layout,
                         hotspot::LightWalk& walk)
    : threads_(threads),
      fields_(fields),
      virtual_threads_(virtual_threads),
      layout_(layout),
      walk_(walk),
      session_(next_session()),
      self_(::getpid()) {}

LockCapture::~LockCapture() = default;

Status LockCapture::take_memory(const Sizes& sizes) {
  block_memory_ = Mapping(sizes.blocks);
  chain_memory_ = Mapping(sizes.chains);
  name_memory_ = Mapping(sizes.names);
  chain_set_memory_ = Mapping(kKnownChains * sizeof(NumberSet::Slot));
  name_set_memory_ = Mapping(kKnownNames * sizeof(NumberSet::Slot));
  monitor_memory_ = Mapping(kMonitors * sizeof(ContendedMonitor));
  named_memory_ = Mapping(size_t{kMostNames} * sizeof(Named));
  hold_memory_ = Mapping(kHolds * sizeof(HoldTable::Slot));
  sleep_memory_ = Mapping(kSleepers * sizeof(capture::SleepTable::Slot));
  for (const Mapping* memory : {&block_memory_, &chain_memory_, &name_memory_, &chain_set_memory_, &name_set_memory_,
                                &monitor_memory_, &named_memory_, &sleep_memory_, &hold_memory_}) {
    if (!*memory) return Error{Errc::kFailed, "no memory for the buffers of lock events"};
  }
  blocks_.emplace(block_memory_.data(), block_memory_.size(), lock_time_ns());
  chains_.emplace(chain_memory_.data(), chain_memory_.size());
  names_.emplace(name_memory_.data(), name_memory_.size());
  known_chains_.emplace(reinterpret_cast<NumberSet::Slot*>(chain_set_memory_.data()), kKnownChains);
  known_names_.emplace(reinterpret_cast<NumberSet::Slot*>(name_set_memory_.data()), kKnownNames);
  monitors_.emplace(monitor_memory_.data(), kMonitors);
  sleeps_.emplace(sleep_memory_.data(), kSleepers);
  named_ = reinterpret_cast<Named*>(named_memory_.data());
  holds_.emplace(reinterpret_cast<HoldTable::Slot*>(hold_memory_.data()), kHolds);
  return known_threads_.take_memory();
}

size_t LockCapture::memory_used() const {
  // Of what is reserved for all threads and all locks only what was touched is there.
  return block_memory_.size() + chain_memory_.size() + name_memory_.size();
}

bool LockCapture::thread_started(const JavaThread& thread) {
  return known_threads_.started(thread, field<uint64_t>(thread.java_thread, fields_.stack_base));
}

void LockCapture::thread_ended(const JavaThread& thread) {
  // By the very thread: it may go on, and even come back to Java as another one.
  Local& mine = local();
  if (mine.session == session_ && ::gettid() == thread.tid) {
    if (mine.block != nullptr) EventBlocks::hand_over(*mine.block);
    mine = {};
  }
  known_threads_.ended(thread);
}

LockCapture::Local* LockCapture::enter() noexcept {
  Local& mine = local();
  if (mine.session != session_) {
    mine = {};
    mine.session = session_;
  }
  if (mine.thread == nullptr) mine.thread = known_threads_.find(::gettid());
  return mine.thread != nullptr ? &mine : nullptr;
}

LockCapture::Local* LockCapture::enter_for_event() noexcept {
  Local* mine = enter();
  if (mine != nullptr) {
    mine->thread->counters.add_alone(LockCount::kTaken);
  } else {
    counters_.add(LockCount::kTaken);
    counters_.add(LockCount::kUnknownThread);
  }
  return mine;
}

void LockCapture::write(Local& mine, LockRecord& record) noexcept {
  record.thread = mine.thread->serial;
  if (mine.block != nullptr && EventBlocks::write(*mine.block, &record, sizeof(record))) return;
  if (mine.block != nullptr) EventBlocks::hand_over(*mine.block);
  mine.block = blocks_->take();
  if (mine.block != nullptr && EventBlocks::write(*mine.block, &record, sizeof(record))) return;
  const bool is_begin = record.act == LockAct::kBlocked || record.act == LockAct::kParkBegins;
  counters_.add(is_begin ? LockCount::kBeginLost : LockCount::kNoBuffer);
}

uint32_t LockCapture::name_of(jvmtiEnv* jvmti, JNIEnv* jni, jobject object) noexcept {
  jint identity = 0, class_identity = 0;
  if (jvmti->GetObjectHashCode(object, &identity) != JVMTI_ERROR_NONE || identity == 0) return 0;
  // Of tens of thousands of objects two may well have the same 31 bits: that of their class keeps most of them apart.
  jclass klass = jni->GetObjectClass(object);
  const bool has_class = jvmti->GetObjectHashCode(klass, &class_identity) == JVMTI_ERROR_NONE;
  const uint64_t key = uint64_t{static_cast<uint32_t>(class_identity)} << 32 | hash_alone(identity);
  const uint32_t known = has_class ? known_names_->find(key) : 0;
  const uint32_t number = known == 0 && has_class ? give_name(jvmti, klass, identity, key) : known;
  jni->DeleteLocalRef(klass);
  return number;
}

uint32_t LockCapture::give_name(jvmtiEnv* jvmti, jclass klass, jint identity, uint64_t key) noexcept {
  const auto lost = [&] {
    counters_.add(LockCount::kNameLost);
    return 0;
  };
  const auto given = [this](uint32_t until) { return until - forgotten_names_.load(std::memory_order_relaxed); };
  // Others would take the place of those that are still known.
  if (given(last_name_.load(std::memory_order_relaxed)) >= kMostNames) return lost();
  JvmtiMemory<char> signature(jvmti);
  if (jvmti->GetClassSignature(klass, signature.out(), nullptr) != JVMTI_ERROR_NONE) return lost();
  LockName name{};
  constexpr size_t kLongest = UINT16_MAX;
  name.text_bytes = static_cast<uint32_t>(std::min(std::strlen(signature.get()), kLongest));
  name.identity = identity;
  uint8_t* out = names_->reserve(sizeof(name) + name.text_bytes);
  if (out == nullptr) return lost();
  name.number = last_name_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (name.number == 0 || given(name.number) > kMostNames) {
    names_->abandon(out);
    return lost();
  }
  std::memcpy(out, &name, sizeof(name));
  std::memcpy(out + sizeof(name), signature.get(), name.text_bytes);
  names_->commit(out);
  Named& place = named_[name.number % kMostNames];
  place.number.store(0, std::memory_order_relaxed);
  place.lock_of_condition.store(0, std::memory_order_relaxed);
  place.monitor.store(nullptr, std::memory_order_relaxed);
  place.waited_until_ns.store(0, std::memory_order_relaxed);
  place.waiting.store(0, std::memory_order_relaxed);
  place.is_plain.store(false, std::memory_order_relaxed);
  place.number.store(name.number, std::memory_order_release);
  (void)known_names_->add(key, name.number);
  // Who acquires a lock that several may hold tells its hash alone.
  if (sees_holds_) (void)known_names_->add(hash_alone(identity), name.number);
  return name.number;
}

LockCapture::Named* LockCapture::named(uint32_t number) const noexcept {
  Named& place = named_[number % kMostNames];
  return number != 0 && place.number.load(std::memory_order_acquire) == number ? &place : nullptr;
}

void LockCapture::forget_names_if_many() {
  const uint32_t last = last_name_.load(std::memory_order_relaxed);
  if (last - forgotten_names_.load(std::memory_order_relaxed) < kMostNames / 2) return;
  known_names_->clear();
  forgotten_names_.store(last, std::memory_order_relaxed);
}

void LockCapture::blocked(jvmtiEnv* jvmti, JNIEnv* jni, jobject object) noexcept {
  Local* mine = enter();
  if (mine == nullptr) return;
  const Stopwatch watch(*mine);
  LockRecord record{};
  record.time_ns = lock_time_ns();
  record.act = LockAct::kBlocked;
  const uint8_t* java_thread = mine->thread->java_thread;
  record.object = fields_.pending_monitor != 0 ? field<uint64_t>(java_thread, fields_.pending_monitor) : 0;
  record.virtual_id = virtual_id_of(java_thread);
  mine->entering = nullptr;
  if (record.object != 0) {
    // Nobody takes it away from its object while a thread wants it.
    record.other = *reinterpret_cast<const volatile uint64_t*>(record.object + layout_.owner);
    // Its name is found before the generation begins: from then on others speak of it.
    const ContendedMonitor* known = monitors_->find(record.object);
    uint32_t number = known == nullptr || !known->is_contended() ? name_of(jvmti, jni, object) : 0;
    const auto entry = monitors_->block(record.object);
    if (entry.entry == nullptr) counters_.add(LockCount::kMonitorLost);
    if (entry.opened) {
      if (number == 0) number = name_of(jvmti, jni, object);
      entry.entry->name(entry.generation, number);
      if (Named* lock = named(number)) lock->monitor.store(entry.entry, std::memory_order_relaxed);
    }
    record.generation = entry.generation;
    record.lock = entry.entry != nullptr ? entry.entry->lock(entry.generation) : 0;
    mine->entering = entry.entry;
    mine->monitor = record.object;
    mine->generation = entry.generation;
  }
  if (record.lock == 0) record.lock = name_of(jvmti, jni, object);
  record.chain = chain_of(*mine, nullptr);
  write(*mine, record);
}

void LockCapture::entered(jvmtiEnv* jvmti, JNIEnv* jni, jobject object) noexcept {
  Local* mine = enter_for_event();
  if (mine == nullptr) return;
  const Stopwatch watch(*mine);
  LockRecord record{};
  record.act = LockAct::kEntered;
  const uint8_t* java_thread = mine->thread->java_thread;
  record.virtual_id = virtual_id_of(java_thread);
  ContendedMonitor* entry = mine->entering;
  record.generation = mine->generation;
  record.object = mine->monitor;
  if (record.virtual_id != 0) {
    // It may have blocked on another carrier.
    record.lock = name_of(jvmti, jni, object);
    const Named* lock = named(record.lock);
    entry = lock != nullptr ? lock->monitor.load(std::memory_order_relaxed) : nullptr;
    record.generation = entry != nullptr ? entry->generation() : 0;
    record.object = entry != nullptr ? entry->monitor.load(std::memory_order_relaxed) : 0;
  }
  write_entered(*mine, record, entry);
}

void LockCapture::write_entered(Local& mine, LockRecord& record, ContendedMonitor* entry) noexcept {
  mine.entering = nullptr;
  // Still its owner: the order is that of the events.
  if (entry != nullptr) record.sequence = entry->draw(record.generation);
  record.time_ns = lock_time_ns();
  if (entry != nullptr) {
    if (record.lock == 0) record.lock = entry->lock(record.generation);
    capture::MonitorTable::unblock(*entry);
  }
  write(mine, record);
}

uint64_t LockCapture::just_unlocked(uint64_t java_thread) const noexcept {
  return layout_.unlocked_monitor != 0
             ? *reinterpret_cast<const volatile uint64_t*>(java_thread + layout_.unlocked_monitor)
             : 0;
}

LockCapture::Release LockCapture::releasing(uint64_t monitor) noexcept {
  Release release;
  ContendedMonitor* entry = monitors_->find(monitor);
  if (entry == nullptr || !entry->is_contended()) return release;
  if (*reinterpret_cast<const volatile uint64_t*>(monitor + layout_.recursions) != 0) return release;
  const uint64_t generation = entry->generation(), time = lock_time_ns();
  Local& mine = local();
  auto& last = mine.released;
  if (last.generation == generation && time - last.time_ns < kAgainNs &&
      entry->order.load(std::memory_order_relaxed) == last.order) {
    if (mine.session == session_ && mine.thread != nullptr) mine.thread->counters.add_alone(LockCount::kPassedOver);
    return release;
  }
  release = {session_, entry, monitor, generation, time, entry->draw(generation), entry->lock(generation)};
  last = {generation, time, entry->order.load(std::memory_order_relaxed)};
  return release;
}

LockCapture::Release LockCapture::unlocked(uint64_t monitor) noexcept {
  ContendedMonitor* entry = monitors_->find(monitor);
  if (entry == nullptr || !entry->is_contended()) return {};
  const uint64_t generation = entry->generation();
  return {session_, entry, monitor, generation, lock_time_ns(), 0, entry->lock(generation)};
}

void LockCapture::released(const Release& release, LockAct act, const Caller& caller) noexcept {
  if (release.session != session_) return;
  Local* mine = enter_for_event();
  if (mine == nullptr) return;
  const Stopwatch watch(*mine);
  LockRecord record{};
  record.time_ns = release.time_ns;
  record.act = act;
  record.object = release.address;
  record.generation = release.generation;
  record.sequence = release.sequence;
  record.lock = release.lock;
  record.virtual_id = virtual_id_of(mine->thread->java_thread);
  // Who has it now had it next, if nobody has drawn a number since.
  const uint64_t owner = *reinterpret_cast<const volatile uint64_t*>(release.address + layout_.owner);
  const auto last = static_cast<uint32_t>(release.monitor->order.load(std::memory_order_acquire));
  record.other = release.sequence != 0 && last == release.sequence ? owner : 0;
  record.chain = chain_of(*mine, &caller);
  write(*mine, record);
}

}  // namespace tarsier::agent
