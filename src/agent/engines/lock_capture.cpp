#include "agent/engines/lock_capture.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "agent/jvm.h"
#include "base/clock.h"
#include "capture/field.h"
#include "capture/fragment_capture.h"
#include "capture/frozen_frames.h"
#include "capture/stack_extent.h"
#include "linux/procfs.h"

namespace tarsier::agent {

using capture::ContendedMonitor;
using capture::field;
using capture::FrozenFrames;
using hotspot::Fragment;

namespace {

constexpr size_t kKnownChains = size_t{1} << 15;
constexpr size_t kKnownNames = size_t{1} << 15;
constexpr uint32_t kMostNames = 1 << 14;
constexpr size_t kMonitors = size_t{1} << 14;
// An owner that takes its monitor again before one of those that are blocked has woken up releases it time and again:
// within this time once is enough, if nobody else has had it.
constexpr uint64_t kAgainNs = 10'000;

uint64_t now_ns() noexcept {
  return static_cast<uint64_t>(monotonic_now().count);
}

uint64_t next_session() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

uint64_t mixed(uint64_t key, uint64_t value) noexcept {
  key = (key ^ value) * 0x9e3779b97f4a7c15ULL;
  return key ^ key >> 29;
}

}  // namespace

// What a thread keeps of its own; of an earlier session if the numbers differ.
struct LockCapture::Local {
  uint64_t session;
  const KnownThread* thread;
  EventBlocks::Block* block;
  ContendedMonitor* entering;  // the monitor that it is blocked by
  uint64_t monitor, generation;
  ContendedMonitor* waiting;  // the monitor that it waits for in Object.wait, and the number of its object's name
  uint32_t waited;
  uint64_t wait_began_ns;
  int64_t named_virtual_id;
  uint32_t calls;
  // Its last release that was recorded, of a monitor that others are blocked by.
  struct {
    uint64_t generation, time_ns, order;
  } released;
};

// What a call of ours takes, of some calls: reading the clock twice is a good part of a short one.
class LockCapture::Stopwatch {
 public:
  Stopwatch(LockCapture& capture, Local& local) noexcept
      : capture_(capture), began_(local.calls++ % kMeasureOneIn == 0 ? now_ns() : 0) {}
  ~Stopwatch() {
    if (began_ == 0) return;
    capture_.count(LockCount::kMeasured);
    capture_.count(LockCount::kMeasuredNs, now_ns() - began_);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  static constexpr uint32_t kMeasureOneIn = 64;
  LockCapture& capture_;
  const uint64_t began_;
};

LockCapture::Local& LockCapture::local() noexcept {
  static thread_local Local local;
  return local;
}

void LockCapture::count(LockCount what, uint64_t value) noexcept {
  const uint64_t where = reinterpret_cast<uintptr_t>(&local()) * 0x9e3779b97f4a7c15ULL;
  counters_.add(static_cast<uint32_t>(where >> 40), what, value);
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
  const int64_t pid_max = linux::read_number("/proc/sys/kernel/pid_max").value_or(1 << 22);
  block_memory_ = Mapping(sizes.blocks);
  chain_memory_ = Mapping(sizes.chains);
  name_memory_ = Mapping(sizes.names);
  chain_set_memory_ = Mapping(kKnownChains * sizeof(NumberSet::Slot));
  name_set_memory_ = Mapping(kKnownNames * sizeof(NumberSet::Slot));
  monitor_memory_ = Mapping(kMonitors * sizeof(ContendedMonitor));
  monitor_of_name_memory_ = Mapping(size_t{kMostNames} * sizeof(void*));
  thread_memory_ = Mapping(static_cast<size_t>(pid_max + 1) * sizeof(void*));
  for (const Mapping* memory : {&block_memory_, &chain_memory_, &name_memory_, &chain_set_memory_, &name_set_memory_,
                                &monitor_memory_, &monitor_of_name_memory_, &thread_memory_}) {
    if (!*memory) return Error{Errc::kFailed, "no memory for the buffers of lock events"};
  }
  blocks_.emplace(block_memory_.data(), block_memory_.size(), now_ns());
  chains_.emplace(chain_memory_.data(), chain_memory_.size());
  names_.emplace(name_memory_.data(), name_memory_.size());
  known_chains_.emplace(reinterpret_cast<NumberSet::Slot*>(chain_set_memory_.data()), kKnownChains);
  known_names_.emplace(reinterpret_cast<NumberSet::Slot*>(name_set_memory_.data()), kKnownNames);
  monitors_.emplace(monitor_memory_.data(), kMonitors);
  monitor_of_name_ = reinterpret_cast<std::atomic<ContendedMonitor*>*>(monitor_of_name_memory_.data());
  table_.emplace(thread_memory_.data(), thread_memory_.size() / sizeof(void*));
  return {};
}

size_t LockCapture::memory_used() const {
  // Of what is reserved for all threads and all locks only what was touched is there.
  return block_memory_.size() + chain_memory_.size() + name_memory_.size();
}

bool LockCapture::thread_started(const JavaThread& thread) {
  auto known = std::make_unique<KnownThread>();
  known->serial = thread.serial;
  known->java_thread = thread.java_thread;
  known->java_id = thread.java_id;
  known->stack_base = field<uint64_t>(thread.java_thread, fields_.stack_base);
  known->ref = thread.ref;
  const std::lock_guard guard(lock_);
  by_java_thread_[reinterpret_cast<uint64_t>(thread.java_thread)] = thread.serial;
  by_java_id_[thread.java_id] = thread.serial;
  const bool set = table_->set(thread.tid, known.get());
  by_serial_[thread.serial] = std::move(known);
  return set;
}

void LockCapture::thread_ended(const JavaThread& thread) {
  table_->set(thread.tid, nullptr);
  Local& mine = local();
  if (mine.session == session_ && mine.block != nullptr && ::gettid() == thread.tid) {
    EventBlocks::hand_over(*mine.block);
    mine.block = nullptr;
    mine.thread = nullptr;
  }
  const std::lock_guard guard(lock_);
  ended_.push_back(thread.serial);
}

void LockCapture::forget_ended() {
  const std::lock_guard guard(lock_);
  for (const uint32_t serial : ended_before_) {
    const auto it = by_serial_.find(serial);
    if (it == by_serial_.end()) continue;
    const auto forget = [serial](auto& map, auto key) {
      const auto entry = map.find(key);
      if (entry != map.end() && entry->second == serial) map.erase(entry);
    };
    forget(by_java_thread_, reinterpret_cast<uint64_t>(it->second->java_thread));
    forget(by_java_id_, it->second->java_id);
    by_serial_.erase(it);
  }
  ended_before_ = std::move(ended_);
  ended_.clear();
}

uint32_t LockCapture::serial_of_java_id(int64_t id) {
  const std::lock_guard guard(lock_);
  const auto it = by_java_id_.find(id);
  return it != by_java_id_.end() ? it->second : 0;
}

std::pair<uint32_t, int64_t> LockCapture::owner_of(uint64_t owner) {
  // 1, 2: the JVM knows that somebody owns it, not who; or nobody may any more.
  constexpr uint64_t kFirstId = 3;
  if (owner < kFirstId) return {0, 0};
  if (layout_.owner_is_id) {
    const auto id = static_cast<int64_t>(owner);
    const uint32_t serial = serial_of_java_id(id);
    return {serial, serial == 0 ? id : 0};
  }
  const std::lock_guard guard(lock_);
  if (const auto it = by_java_thread_.find(owner); it != by_java_thread_.end()) return {it->second, 0};
  // Or where the lock record lies, on the owner's stack.
  constexpr uint64_t kLargestStack = uint64_t{1} << 30;
  const KnownThread* nearest = nullptr;
  for (const auto& [serial, thread] : by_serial_) {
    if (thread->stack_base <= owner || thread->stack_base - owner > kLargestStack) continue;
    if (nearest == nullptr || thread->stack_base < nearest->stack_base) nearest = thread.get();
  }
  return {nearest != nullptr ? nearest->serial : 0, 0};
}

LockCapture::Local* LockCapture::enter() noexcept {
  Local& mine = local();
  if (mine.session != session_) {
    mine = {};
    mine.session = session_;
  }
  if (mine.thread == nullptr) mine.thread = table_->find(::gettid());
  if (mine.thread == nullptr) {
    count(LockCount::kTaken);
    count(LockCount::kUnknownThread);
    return nullptr;
  }
  return &mine;
}

int64_t LockCapture::virtual_id_of(const uint8_t* java_thread) const noexcept {
  if (virtual_threads_ == nullptr || fields_.continuation == 0) return 0;
  Fragment fragment{};
  fragment.continuation = field<uint64_t>(java_thread, fields_.continuation);
  if (fragment.continuation == 0) return 0;
  if (virtual_threads_->current_id != 0) return field<int64_t>(java_thread, virtual_threads_->current_id);
  FrozenFrames frozen(*virtual_threads_, self_, java_thread, 0);
  frozen.find(fragment);
  return fragment.virtual_id;
}

void LockCapture::write(Local& mine, LockRecord& record) noexcept {
  record.thread = mine.thread->serial;
  if (mine.block != nullptr && EventBlocks::write(*mine.block, &record, sizeof(record))) return;
  if (mine.block != nullptr) EventBlocks::hand_over(*mine.block);
  mine.block = blocks_->take();
  if (mine.block != nullptr && EventBlocks::write(*mine.block, &record, sizeof(record))) return;
  const bool is_begin = record.act == LockAct::kBlocked || record.act == LockAct::kPark;
  count(is_begin ? LockCount::kBeginLost : LockCount::kNoBuffer);
}

uint32_t LockCapture::chain_of(Local& mine, const Caller* caller) noexcept {
  const uint8_t* java_thread = mine.thread->java_thread;
  Fragment fragment{};
  fragment.anchor = {field<uint64_t>(java_thread, fields_.anchor_sp), field<uint64_t>(java_thread, fields_.anchor_pc),
                     field<uint64_t>(java_thread, fields_.anchor_fp)};
  fragment.thread_state = field<int32_t>(java_thread, fields_.thread_state);
  if (fields_.continuation != 0) fragment.continuation = field<uint64_t>(java_thread, fields_.continuation);
  if (fields_.unloaded != nullptr) fragment.epoch = *fields_.unloaded + *fields_.unloaded_shared;
  hotspot::LightWalk::Place place{{}, false, mine.thread->stack_base, fragment.continuation, fragment.epoch};
  if (fragment.anchor.sp != 0) {
    constexpr uint64_t kBelow = 64;  // the pc may lie below the frame
    fragment.sp = fragment.anchor.sp - kBelow;
    const uint64_t pc =
        fragment.anchor.pc != 0 ? fragment.anchor.pc : *reinterpret_cast<const uint64_t*>(fragment.anchor.sp - 8);
    place.at = {pc, fragment.anchor.sp, fragment.anchor.fp};
  } else if (caller != nullptr) {
    place.at = {caller->pc, caller->sp, caller->fp};
    place.is_call = !walk_.is_code(caller->pc);
    // Of Java code it is the call that counts: what lies behind it may belong to another inlined method.
    constexpr uint64_t kCall = sizeof(uint32_t);
    if (!place.is_call) place.at.sp += walk_.popped_at(caller->pc);
    fragment.pc = place.is_call ? caller->pc : caller->pc - kCall;
    fragment.sp = place.at.sp;
    fragment.fp = caller->fp;
    fragment.thread_state = hotspot::kThreadInJava;
  } else {
    return 0;
  }
  hotspot::LightWalk::Chain chain = walk_.walk(place);
  count(LockCount::kFrames, chain.frames);
  const uint64_t lock_record = caller != nullptr ? caller->lock_record : 0;
  // Which of several records of a frame it is tells the inlined methods apart.
  if (chain.key != 0 && lock_record != 0) chain.key = mixed(chain.key, lock_record - fragment.sp);
  // The name of a virtual thread comes with its first chain.
  const bool unnamed = fragment.continuation != 0 && virtual_id_of(java_thread) != mine.named_virtual_id;
  if (chain.key != 0 && !chain.ends_in_heap && !unnamed) {
    if (const uint32_t known = known_chains_->find(chain.key)) {
      count(LockCount::kChainKnown);
      return known;
    }
  }
  return copy_chain(mine, fragment, chain, lock_record);
}

uint32_t LockCapture::copy_chain(Local& mine, Fragment& fragment, const hotspot::LightWalk::Chain& chain,
                                 uint64_t lock_record) noexcept {
  // Of frames in the heap the walk has seen nothing: there may be many chains like that.
  const uint64_t key = chain.ends_in_heap ? 0 : chain.key;
  const uint8_t* java_thread = mine.thread->java_thread;
  std::optional<FrozenFrames> frozen;
  const uint64_t base = mine.thread->stack_base;
  const bool entry_is_here = fragment.continuation > fragment.sp && fragment.continuation < base;
  if (virtual_threads_ != nullptr && entry_is_here) {
    frozen.emplace(*virtual_threads_, self_, java_thread, mine.named_virtual_id);
    frozen->find(fragment);
  }
  const capture::StackExtent extent{base, 0, fragment.virtual_id != 0 ? fragment.continuation : 0};
  const uint64_t size = extent.bytes_from(fragment.sp);
  const uint64_t most = chains_->used() < chains_->capacity() / 2 ? chains_->capacity() / 8 : 16 << 10;
  fragment.stack_bytes = static_cast<uint32_t>(std::min(size, most)) & ~7U;
  fragment.cut = size > fragment.stack_bytes;

  capture::SampleHeader header{};
  header.time_ns = now_ns();
  header.kept = true;
  header.weight_ns = lock_record;
  uint8_t* out = chains_->reserve(sizeof(header) + sizeof(fragment) + fragment.stack_bytes + fragment.frozen_bytes +
                                  fragment.padded_name());
  if (out == nullptr) {
    count(LockCount::kChainLost);
    return 0;
  }
  uint8_t* stack = out + sizeof(header) + sizeof(fragment);
  std::memcpy(stack, reinterpret_cast<const void*>(fragment.sp), fragment.stack_bytes);
  if (frozen) {
    uint8_t* parts = stack + fragment.stack_bytes;
    frozen->copy(fragment, parts, parts + fragment.frozen_bytes);
  }
  const uint32_t number = kChainBit | (last_chain_.fetch_add(1, std::memory_order_relaxed) + 1);
  header.thread = number;
  std::memcpy(out, &header, sizeof(header));
  std::memcpy(out + sizeof(header), &fragment, sizeof(fragment));
  chains_->commit(out);
  if (fragment.virtual_id != 0) mine.named_virtual_id = fragment.virtual_id;
  // Now whoever finds the number finds its stack.
  if (key != 0) (void)known_chains_->add(key, number);
  count(key != 0 ? LockCount::kChainNew : LockCount::kChainUnknown);
  return number;
}

uint32_t LockCapture::name_of(jvmtiEnv* jvmti, JNIEnv* jni, jobject object) noexcept {
  jint identity = 0;
  if (jvmti->GetObjectHashCode(object, &identity) != JVMTI_ERROR_NONE || identity == 0) return 0;
  const auto key = static_cast<uint64_t>(static_cast<uint32_t>(identity));
  if (const uint32_t known = known_names_->find(key)) return known;
  const auto lost = [&] {
    count(LockCount::kNameLost);
    return 0;
  };
  if (last_name_.load(std::memory_order_relaxed) + 1 >= kMostNames) return lost();
  jclass klass = jni->GetObjectClass(object);
  JvmtiMemory<char> signature(jvmti);
  const bool told = jvmti->GetClassSignature(klass, signature.out(), nullptr) == JVMTI_ERROR_NONE;
  jni->DeleteLocalRef(klass);
  if (!told) return lost();
  LockName name{};
  constexpr size_t kLongest = UINT16_MAX;
  name.text_bytes = static_cast<uint32_t>(std::min(std::strlen(signature.get()), kLongest));
  name.identity = identity;
  uint8_t* out = names_->reserve(sizeof(name) + name.text_bytes);
  if (out == nullptr) return lost();
  name.number = last_name_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (name.number >= kMostNames) {
    names_->abandon(out);
    return lost();
  }
  std::memcpy(out, &name, sizeof(name));
  std::memcpy(out + sizeof(name), signature.get(), name.text_bytes);
  names_->commit(out);
  (void)known_names_->add(key, name.number);
  return name.number;
}

void LockCapture::blocked(jvmtiEnv* jvmti, JNIEnv* jni, jthread, jobject object) noexcept {
  Local* mine = enter();
  if (mine == nullptr) return;
  const Stopwatch watch(*this, *mine);
  LockRecord record{};
  record.time_ns = now_ns();
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
    if (entry.entry == nullptr) count(LockCount::kMonitorLost);
    if (entry.opened) {
      if (number == 0) number = name_of(jvmti, jni, object);
      entry.entry->name(entry.generation, number);
      if (number != 0) monitor_of_name_[number].store(entry.entry, std::memory_order_relaxed);
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

void LockCapture::entered(jvmtiEnv* jvmti, JNIEnv* jni, jthread, jobject object) noexcept {
  Local* mine = enter();
  if (mine == nullptr) return;
  const Stopwatch watch(*this, *mine);
  count(LockCount::kTaken);
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
    entry = record.lock != 0 ? monitor_of_name_[record.lock].load(std::memory_order_relaxed) : nullptr;
    record.generation = entry != nullptr ? entry->generation() : 0;
    record.object = entry != nullptr ? entry->monitor.load(std::memory_order_relaxed) : 0;
  }
  write_entered(*mine, record, entry);
}

void LockCapture::write_entered(Local& mine, LockRecord& record, ContendedMonitor* entry) noexcept {
  mine.entering = nullptr;
  // Still its owner: the order is that of the events.
  if (entry != nullptr) record.sequence = entry->draw(record.generation);
  record.time_ns = now_ns();
  if (entry != nullptr) {
    if (record.lock == 0) record.lock = entry->lock(record.generation);
    capture::MonitorTable::unblock(*entry);
  }
  write(mine, record);
}

void LockCapture::waits(jvmtiEnv* jvmti, JNIEnv* jni, jobject object) noexcept {
  Local* mine = enter();
  if (mine == nullptr) return;
  const Stopwatch watch(*this, *mine);
  mine->waited = name_of(jvmti, jni, object);
  if (mine->waiting != nullptr) mine->waiting->waited.store(mine->waited, std::memory_order_relaxed);
}

void LockCapture::waiting(uint64_t monitor) noexcept {
  Local* mine = enter();
  // Virtual threads come back by another way.
  if (mine == nullptr || virtual_id_of(mine->thread->java_thread) != 0) return;
  mine->waiting = monitors_->find_or_add(monitor);
  if (mine->waiting == nullptr) return;
  mine->wait_began_ns = now_ns();
  mine->waiting->waiters.fetch_add(1, std::memory_order_relaxed);
  mine->waiting->waited.store(mine->waited, std::memory_order_relaxed);
}

void LockCapture::waited() noexcept {
  Local* mine = enter();
  if (mine == nullptr || mine->waiting == nullptr) return;
  mine->waiting->waiters.fetch_sub(1, std::memory_order_relaxed);
  mine->waiting = nullptr;
  mine->waited = 0;
}

void LockCapture::notifying(uint64_t monitor) noexcept {
  ContendedMonitor* entry = monitors_->find(monitor);
  if (entry == nullptr || entry->waiters.load(std::memory_order_relaxed) == 0) return;
  // From now on the thread that is notified is blocked, though it does not know yet.
  const auto blocked = monitors_->block(monitor);
  if (blocked.opened) entry->name(blocked.generation, entry->waited.load(std::memory_order_relaxed));
  entry->notified_ns.store(now_ns(), std::memory_order_relaxed);
}

void LockCapture::reentering(uint64_t monitor) noexcept {
  Local* mine = enter();
  if (mine == nullptr || mine->waiting == nullptr) return;
  const Stopwatch watch(*this, *mine);
  ContendedMonitor* entry = mine->waiting;
  LockRecord record{};
  record.act = LockAct::kBlocked;
  record.after_wait = true;
  record.object = monitor;
  record.time_ns = now_ns();
  const uint64_t notified = entry->notified_ns.load(std::memory_order_relaxed);
  if (notified >= mine->wait_began_ns && notified < record.time_ns) record.time_ns = notified;
  record.generation = entry->generation();
  record.lock = mine->waited;
  mine->entering = entry;
  mine->monitor = monitor;
  mine->generation = record.generation;
  record.chain = chain_of(*mine, nullptr);
  write(*mine, record);
}

void LockCapture::reentered() noexcept {
  Local* mine = enter();
  if (mine == nullptr || mine->entering == nullptr) return;
  const Stopwatch watch(*this, *mine);
  count(LockCount::kTaken);
  LockRecord record{};
  record.act = LockAct::kEntered;
  record.generation = mine->generation;
  record.object = mine->monitor;
  record.lock = mine->waited;
  write_entered(*mine, record, mine->entering);
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
  const uint64_t generation = entry->generation(), time = now_ns();
  auto& last = local().released;
  if (last.generation == generation && time - last.time_ns < kAgainNs &&
      entry->order.load(std::memory_order_relaxed) == last.order) {
    count(LockCount::kPassedOver);
    return release;
  }
  release = {entry, monitor, generation, time, entry->draw(generation)};
  last = {generation, time, entry->order.load(std::memory_order_relaxed)};
  return release;
}

LockCapture::Release LockCapture::unlocked(uint64_t monitor) noexcept {
  ContendedMonitor* entry = monitors_->find(monitor);
  if (entry == nullptr || !entry->is_contended()) return {};
  return {entry, monitor, entry->generation(), now_ns(), 0};
}

void LockCapture::released(const Release& release, LockAct act, const Caller& caller) noexcept {
  Local* mine = enter();
  if (mine == nullptr) return;
  const Stopwatch watch(*this, *mine);
  count(LockCount::kTaken);
  LockRecord record{};
  record.time_ns = release.time_ns;
  record.act = act;
  record.object = release.address;
  record.generation = release.generation;
  record.sequence = release.sequence;
  record.lock = release.monitor->lock(release.generation);
  record.virtual_id = virtual_id_of(mine->thread->java_thread);
  // Who has it now had it next, if nobody has drawn a number since.
  const uint64_t owner = *reinterpret_cast<const volatile uint64_t*>(release.address + layout_.owner);
  const auto last = static_cast<uint32_t>(release.monitor->order.load(std::memory_order_acquire));
  record.other = release.sequence != 0 && last == release.sequence ? owner : 0;
  record.chain = chain_of(*mine, &caller);
  write(*mine, record);
}

LockCapture::Park LockCapture::park(jvmtiEnv* jvmti, JNIEnv* jni, bool is_deadline, int64_t time,
                                    const Caller& caller) noexcept {
  Park park;
  Local* mine = enter();
  if (mine == nullptr) return park;
  const Stopwatch watch(*this, *mine);
  LockRecord record{};
  record.act = LockAct::kPark;
  record.object = static_cast<uint64_t>(time);
  record.is_deadline = is_deadline;
  record.virtual_id = virtual_id_of(mine->thread->java_thread);
  jthread self = mine->thread->ref;
  if (record.virtual_id != 0 && jvmti->GetCurrentThread(&self) != JVMTI_ERROR_NONE) self = nullptr;
  if (jobject blocker = self != nullptr ? jni->GetObjectField(self, layout_.park_blocker) : nullptr) {
    record.lock = name_of(jvmti, jni, blocker);
    if (layout_.ownable != nullptr && jni->IsInstanceOf(blocker, layout_.ownable) == JNI_TRUE) {
      if (jobject owner = jni->GetObjectField(blocker, layout_.exclusive_owner)) {
        record.other = static_cast<uint64_t>(threads_.java_id_of(jni, owner));
        jni->DeleteLocalRef(owner);
      }
    }
    jni->DeleteLocalRef(blocker);
  }
  if (record.virtual_id != 0 && self != nullptr) jni->DeleteLocalRef(self);
  record.chain = chain_of(*mine, &caller);
  record.sequence = park_sequence_.fetch_add(1, std::memory_order_relaxed) + 1;
  record.time_ns = now_ns();
  write(*mine, record);
  return {record.sequence, record.chain, record.lock, true};
}

void LockCapture::parked(const Park& park) noexcept {
  const uint64_t time = now_ns();
  Local* mine = enter();
  if (mine == nullptr) return;
  const Stopwatch watch(*this, *mine);
  count(LockCount::kTaken);
  LockRecord record{};
  record.time_ns = time;
  record.act = LockAct::kParked;
  record.virtual_id = virtual_id_of(mine->thread->java_thread);
  record.sequence = park_sequence_.fetch_add(1, std::memory_order_relaxed) + 1;
  record.generation = park.sequence;
  record.lock = park.lock;
  record.chain = park.chain;
  write(*mine, record);
}

LockCapture::Unpark LockCapture::unparking(JNIEnv* jni, jobject target) noexcept {
  Unpark unpark;
  if (target == nullptr) return unpark;
  unpark.target = threads_.java_id_of(jni, target);
  unpark.sequence = park_sequence_.fetch_add(1, std::memory_order_relaxed) + 1;
  unpark.time_ns = now_ns();
  return unpark;
}

void LockCapture::unparked(const Unpark& unpark, const Caller& caller) noexcept {
  Local* mine = enter();
  if (mine == nullptr) return;
  const Stopwatch watch(*this, *mine);
  count(LockCount::kTaken);
  LockRecord record{};
  record.time_ns = unpark.time_ns;
  record.act = LockAct::kUnpark;
  record.other = static_cast<uint64_t>(unpark.target);
  record.sequence = unpark.sequence;
  record.virtual_id = virtual_id_of(mine->thread->java_thread);
  record.chain = chain_of(*mine, &caller);
  write(*mine, record);
}

}  // namespace tarsier::agent
