#include "agent/engines/lock.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <optional>

#include "agent/engines/deadlock_watch.h"
#include "agent/engines/fragment_decoding.h"
#include "agent/engines/lock_capture.h"
#include "agent/engines/lock_decoder.h"
#include "agent/engines/lock_detail.h"
#include "agent/engines/lock_hooks.h"
#include "agent/engines/lock_trial.h"
#include "agent/engines/native_code.h"
#include "agent/engines/virtual_threads_watch.h"
#include "agent/native_method.h"
#include "base/clock.h"
#include "capture/unwind_table.h"

namespace tarsier::agent {
namespace {

constexpr int kFirstWithOwnerIds = 24;

jvmtiCapabilities wanted_capabilities() {
  jvmtiCapabilities wanted{};
  wanted.can_generate_monitor_events = 1;
  return wanted;
}

// How to leave native functions, those of the JVM and ours that are called instead. Any thread.
class JvmFunctions final : public hotspot::NativeFrames {
 public:
  JvmFunctions() {
    const NativeCode code;
    tables_.assign(code.tables().begin(), code.tables().end());
  }
  [[nodiscard]] std::optional<UnwindRule> rule_at(Address pc) const override {
    const auto table = std::find_if(tables_.begin(), tables_.end(), [pc](const auto& one) { return one.contains(pc); });
    return table != tables_.end() ? table->rule_at(pc) : std::nullopt;
  }

 private:
  std::vector<capture::UnwindTable> tables_;
};

class LockEngine final : public Engine {
 public:
  explicit LockEngine(EngineContext& context) : context_(context) {}
  ~LockEngine() override;

  std::string_view name() const override { return "lock"; }
  bool dispensable() const override { return true; }
  // The innermost frame of a release may be any inlined method.
  bool samples_anywhere() const override { return hooks_.has_value(); }
  Result<control::EngineReport> probe() override;
  Status start() override;
  bool drain() override;
  void settle() override;
  void silence() override;
  void stop() override;
  EngineStats stats() override { return stopped_ ? last_stats_ : read_stats(); }
  std::vector<std::string> warnings() override { return warnings_; }

  void on_monitor_enter(jvmtiEnv* jvmti, JNIEnv* jni, jobject object) override {
    capture_->blocked(jvmti, jni, object);
  }
  void on_monitor_entered(jvmtiEnv* jvmti, JNIEnv* jni, jobject object) override {
    capture_->entered(jvmti, jni, object);
  }
  void on_monitor_wait(jvmtiEnv* jvmti, JNIEnv* jni, jobject object) override { capture_->waits(jvmti, jni, object); }
  void on_class_file(const ClassFile& file) override {
    if (detail_) detail_->on_class_file(file);
  }

 private:
  [[nodiscard]] bool wants_owners() const { return context_.options.lock_level() == "owner"; }
  Status find_layout();
  void prepare_detail(control::EngineReport& report);
  void put_on_detail();
  // Once there are some: their class is changed.
  void watch_virtual_threads();
  void tell_changes(const Status& status, const char* without);
  // Null: there is none. `keep`, if there is one: its class.
  jfieldID find_field(const char* class_name, const char* name, const char* type, jclass* keep);
  // The best that stand their trial; says what is used, and why nothing better.
  void choose_hooks(control::EngineReport& report);
  // On locks of our own, for a moment.
  Status try_hooks(LockHooks& hooks, LockWay way);
  // What has been written so far, of all blocks or of those that were handed over.
  void look_at_blocks(bool all);
  bool names_are_late();
  bool decode_piece();
  EngineStats read_stats();

  EngineContext& context_;
  std::vector<std::string> warnings_;
  std::optional<FragmentDecoding> decoding_;
  JvmFunctions functions_;
  std::unique_ptr<hotspot::LightWalk> walk_;
  LockLayout layout_;
  std::optional<LockHooks> hooks_;
  std::unique_ptr<LockCapture> capture_;
  std::unique_ptr<LockDecoder> decoder_;
  std::unique_ptr<LockDetail> detail_;                  // null: no class is changed, so far
  std::optional<VirtualThreadsWatch> virtual_threads_;  // nothing: they are not to be watched, or not any more
  std::optional<DeadlockWatch> deadlocks_;
  std::vector<EventBlocks::Part> parts_;  // to be decoded, in the order in which their threads wrote them
  size_t next_part_ = 0;
  uint64_t names_until_ = 0, chains_until_ = 0;  // what they speak of was reserved in these rings by then
  Nanos late_since_;                             // it has not all come; 0: it has
  bool stopping_ = false;
  bool look_everywhere_ = false;
  Nanos looked_everywhere_at_;
  std::atomic<bool> hooked_{false};
  bool started_ = false, stopped_ = false;
  Nanos decoding_time_;
  EngineStats last_stats_;
};

LockEngine::~LockEngine() {
  for (jclass klass : {layout_.ownable, layout_.condition}) {
    if (klass != nullptr) context_.jvm.jni()->DeleteGlobalRef(klass);
  }
}

Result<control::EngineReport> LockEngine::probe() {
  jvmtiCapabilities possible{};
  if (context_.jvm.jvmti()->GetPotentialCapabilities(&possible) != JVMTI_ERROR_NONE ||
      possible.can_generate_monitor_events == 0) {
    return Error{Errc::kUnsupported, "this JVM does not tell about contended monitors now"};
  }
  auto decoding = FragmentDecoding::make(context_, recording::Event::kJavaMonitorEnter, warnings_);
  if (!decoding) return std::move(decoding).error();
  decoding_.emplace(std::move(*decoding));
  auto walk = hotspot::LightWalk::find(*context_.jvm.lib().structs(), functions_, context_.jvm.major());
  if (!walk) return std::move(walk).error();
  walk_ = std::move(*walk);
  if (Status status = find_layout(); !status) return std::move(status).error();

  control::EngineReport report{std::string(name()), "blocked", "", {}, {}};
  if (!wants_owners()) {
    report.why = "who blocks others, and parking, are recorded by --lock only";
    return report;
  }
  if (context_.options.no_hooks) {
    report.why = "hooks are forbidden (--no-hooks): owners' call chains and parking are not seen";
    warnings_.push_back(report.why);
    return report;
  }
  choose_hooks(report);
  prepare_detail(report);
  return report;
}

void LockEngine::prepare_detail(control::EngineReport& report) {
  if (hooks_ && hooks_->sees_parking()) {
    virtual_threads_.emplace(context_.jvm);
    if (virtual_threads_->has_class()) {
      report.why += "; and once there are virtual threads, their class tells when they park (java.lang.VirtualThread)";
    } else {
      virtual_threads_.reset();
    }
  }
  if (context_.options.lock_detail.empty()) return;
  if (!hooks_ || !hooks_->sees_parking()) {
    warnings_.emplace_back("no --lock-detail: it is not seen who waits");
    return;
  }
  auto detail = LockDetail::prepare(context_, context_.options.lock_detail);
  if (!detail) {
    warnings_.push_back("no --lock-detail: " + detail.error().what);
    return;
  }
  detail_ = std::move(*detail);
  report.why += "; and classes tell who holds their locks (" + context_.options.lock_detail + ")";
}

void LockEngine::put_on_detail() {
  const Status status = detail_->put_on(*capture_);
  tell_changes(status, "no --lock-detail");
  if (!status) detail_.reset();
}

void LockEngine::watch_virtual_threads() {
  if (!virtual_threads_ || !virtual_threads_->in_use()) return;
  virtual_threads_.reset();
  const bool is_first = detail_ == nullptr;
  Status status;
  if (is_first) {
    auto detail = LockDetail::prepare(context_, kVirtualWord);
    if (detail) {
      detail_ = std::move(*detail);
    } else {
      status = std::move(detail).error();
    }
  }
  if (status) status = is_first ? detail_->put_on(*capture_) : detail_->also(kVirtualWord);
  if (status) capture_->expect_virtual_parks();
  tell_changes(status, "virtual threads that park are not seen");
  if (!status && is_first) detail_.reset();
}

void LockEngine::tell_changes(const Status& status, const char* without) {
  if (detail_) {
    for (std::string& problem : detail_->take_problems()) warnings_.push_back(std::move(problem));
  }
  warnings_.push_back(status ? "until the recording ends, classes of the JVM are changed: " + detail_->take_names()
                             : std::string(without) + ": " + status.error().what);
}

void LockEngine::choose_hooks(control::EngineReport& report) {
  constexpr int kFirstWithInternalOne = 9;
  const bool old = context_.jvm.major() < kFirstWithInternalOne;
  const char* const unsafe = old ? "sun/misc/Unsafe" : "jdk/internal/misc/Unsafe";
  const LockHooks::Natives natives{
      native_function_of(context_.jvm, unsafe, "park", "(ZJ)V"),
      native_function_of(context_.jvm, unsafe, "unpark", "(Ljava/lang/Object;)V"),
  };
  struct Way {
    LockWay way;
    const char *mechanism, *found_by;
  };
  constexpr Way kWays[] = {
      {LockWay::kSymbols, "hooks", ""},
      {LockWay::kProbes, "usdt", "found by the library's static probes (USDT): "},
      {LockWay::kExports, "exports", "found by what the functions that the library exports call: "},
      {LockWay::kSignals, "condvar", "only who wakes up others is seen: "},
  };
  std::string problems;
  bool named = false;  // the functions are known, and can't be hooked: otherwise found they would be the same
  for (const Way& one : kWays) {
    if (named && (one.way == LockWay::kProbes || one.way == LockWay::kExports)) continue;
    auto hooks = LockHooks::prepare(one.way, natives);
    const Status status = hooks ? try_hooks(*hooks, one.way) : Status(hooks.error());
    if (!status) {
      problems += (problems.empty() ? "" : "; ") + status.error().what;
      named = named || (one.way == LockWay::kSymbols && status.error().code != Errc::kNotFound);
      continue;
    }
    hooks_.emplace(std::move(*hooks));
    layout_.unlocked_monitor = hooks_->unlocked_monitor();
    const std::string hooked = one.found_by + hooks_->names();
    report.mechanism = one.mechanism;
    report.why = "the JVM's own functions lead to ours until the recording ends: " + hooked;
    if (!problems.empty()) report.why += "; why not otherwise: " + problems;
    warnings_.push_back("until the recording ends, functions of the JVM are hooked: " + hooked);
    if (!hooks_->sees_parking()) warnings_.emplace_back("parking is not seen: its functions are not found");
    if (!hooks_->sees_waiting()) warnings_.emplace_back("Object.wait is not seen: its functions are not found");
    if (!hooks_->sees_unlocking()) {
      warnings_.emplace_back(
          "how compiled code releases monitors is not seen: where several methods that do so were inlined into one "
          "compiled method, the owner is shown as that one");
    }
    return;
  }
  report.why = "no hooks: " + problems + "; owners' call chains and parking are not seen";
  warnings_.push_back(report.why);
}

Status LockEngine::try_hooks(LockHooks& hooks, LockWay way) {
  Status status = hooks.put_on(nullptr, nullptr);
  if (status) {
    status =
        hooks.has_signals_only() ? try_signals(context_) : try_monitor(context_, decoding_->fields().pending_monitor);
  }
  if (status && hooks.sees_parking()) status = try_parking(context_);
  // What has its name is what it is called; and a wait may come late on a machine that is busy.
  const bool waits = !status || way == LockWay::kSymbols || !hooks.sees_waiting() || try_waiting(context_);
  if (Status off = hooks.take_off(); status && !off) status = std::move(off);
  if (!waits) hooks.forget_waiting();
  return status;
}

jfieldID LockEngine::find_field(const char* class_name, const char* name, const char* type, jclass* keep) {
  JNIEnv* jni = context_.jvm.jni();
  jclass klass = jni->FindClass(class_name);
  jfieldID field = klass != nullptr ? jni->GetFieldID(klass, name, type) : nullptr;
  jni->ExceptionClear();
  if (field != nullptr && keep != nullptr) *keep = static_cast<jclass>(jni->NewGlobalRef(klass));
  if (klass != nullptr) jni->DeleteLocalRef(klass);
  return field;
}

Status LockEngine::find_layout() {
  const hotspot::VmStructs& structs = *context_.jvm.lib().structs();
  const auto owner = structs.offset("ObjectMonitor", "_owner");
  const auto recursions = structs.offset("ObjectMonitor", "_recursions");
  if (!owner || !recursions) return Error{Errc::kUnsupported, "this JVM does not tell how its monitors lie"};
  layout_.owner = *owner;
  layout_.owner_is_id = context_.jvm.major() >= kFirstWithOwnerIds;
  layout_.recursions = *recursions;

  layout_.park_blocker = find_field("java/lang/Thread", "parkBlocker", "Ljava/lang/Object;", nullptr);
  layout_.interrupted = find_field("java/lang/Thread", "interrupted", "Z", nullptr);
  layout_.exclusive_owner = find_field("java/util/concurrent/locks/AbstractOwnableSynchronizer", "exclusiveOwnerThread",
                                       "Ljava/lang/Thread;", &layout_.ownable);
  layout_.condition_of = find_field("java/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject", "this$0",
                                    "Ljava/util/concurrent/locks/AbstractQueuedSynchronizer;", &layout_.condition);
  if (layout_.park_blocker == nullptr) return Error{Errc::kUnsupported, "java.lang.Thread has no field parkBlocker"};
  layout_.objects = StillObjects(context_.jvm.lib().memory(), structs);
  return {};
}

Status LockEngine::start() {
  capture_ = std::make_unique<LockCapture>(context_.threads, decoding_->fields(), decoding_->virtual_threads(), layout_,
                                           *walk_);
  decoder_ = std::make_unique<LockDecoder>(context_, decoding_->decoder(), *capture_, layout_.owner_is_id);
  const auto memory = static_cast<size_t>(context_.options.memory.count);
  const LockCapture::Sizes sizes{std::max<size_t>(memory / 4, 1 << 20),
                                 std::bit_floor(std::max<size_t>(memory / 16, 1 << 20)), size_t{1} << 20};
  if (Status status = capture_->take_memory(sizes); !status) return status;
  if (detail_) capture_->expect_holds();
  deadlocks_.emplace(context_, capture_->known_threads(), layout_);
  started_ = true;
  context_.threads.add_listener(*capture_);
  if (Status status = context_.threads.add_existing(); !status) return status;
  deadlocks_->begin();
  jvmtiEnv* jvmti = context_.jvm.jvmti();
  const jvmtiCapabilities wanted = wanted_capabilities();
  if (jvmti->AddCapabilities(&wanted) != JVMTI_ERROR_NONE) {
    return Error{Errc::kUnsupported, "this JVM does not tell about contended monitors now"};
  }
  for (const jvmtiEvent event : {JVMTI_EVENT_MONITOR_CONTENDED_ENTERED, JVMTI_EVENT_MONITOR_CONTENDED_ENTER}) {
    if (jvmti->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr) != JVMTI_ERROR_NONE) {
      return Error{Errc::kUnsupported, "this JVM does not tell about contended monitors"};
    }
  }
  if (!hooks_) return {};
  // Tells which object it is, where the hooks see only its monitor.
  if (jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_MONITOR_WAIT, nullptr) != JVMTI_ERROR_NONE) {
    return Error{Errc::kUnsupported, "this JVM does not tell about Object.wait"};
  }
  if (detail_) put_on_detail();
  watch_virtual_threads();
  hooked_ = true;
  return hooks_->put_on(capture_.get(), jvmti);
}

void LockEngine::silence() {
  if (!hooked_.exchange(false)) return;
  try {
    (void)hooks_->take_off();
  } catch (const std::bad_alloc&) {
    hooked_ = true;  // they are still on
    throw;
  }
  LockDetail::silence();
}

void LockEngine::look_at_blocks(bool all) {
  parts_.clear();
  next_part_ = 0;
  capture_->blocks().look(all, [this](const EventBlocks::Part& part) { parts_.push_back(part); });
  std::sort(parts_.begin(), parts_.end(), [](const auto& a, const auto& b) { return a.block->taken < b.block->taken; });
  names_until_ = capture_->names().reserved();
  chains_until_ = capture_->chains().reserved();
}

// A thread may be held up between taking room in a ring and filling it: all behind it comes late.
bool LockEngine::names_are_late() {
  if (capture_->names().has_consumed(names_until_) && capture_->chains().has_consumed(chains_until_)) {
    late_since_ = Nanos(0);
    return false;
  }
  constexpr Nanos kPatience = seconds(1);
  if (late_since_.count == 0) late_since_ = monotonic_now();
  return monotonic_now() - late_since_ < kPatience;
}

bool LockEngine::decode_piece() {
  // What the events speak of was written before them.
  while (capture_->names().consume(
             [this](const uint8_t* name, size_t) { decoder_->name(*reinterpret_cast<const LockName*>(name)); },
             kPiece) == kPiece) {
  }
  capture_->forget_names_if_many();
  decoding_->decoder().begin();
  const size_t chains = capture_->chains().consume(
      [this](const uint8_t* record, size_t) {
        decoder_->chain(*reinterpret_cast<const capture::FragmentRecord*>(record));
      },
      kPiece);
  if (chains == kPiece) return true;
  if (names_are_late()) return stopping_;
  constexpr size_t kEvents = 512;
  size_t done = 0;
  while (next_part_ < parts_.size() && done < kEvents) {
    EventBlocks::Part& part = parts_[next_part_];
    while (part.size >= sizeof(LockRecord) && done < kEvents) {
      decoder_->event(*reinterpret_cast<const LockRecord*>(part.bytes));
      part.bytes += sizeof(LockRecord);
      part.size -= sizeof(LockRecord);
      part.block->read += sizeof(LockRecord);
      ++done;
    }
    if (part.size >= sizeof(LockRecord)) break;
    if (part.handed_over) capture_->blocks().give_back(*part.block);
    ++next_part_;
  }
  return next_part_ < parts_.size();
}

bool LockEngine::drain() {
  if (!started_ || stopped_) return false;
  if (hooked_) watch_virtual_threads();
  const Nanos start = clock_now(CLOCK_THREAD_CPUTIME_ID);
  if (next_part_ >= parts_.size()) {
    if (look_everywhere_) looked_everywhere_at_ = monotonic_now();
    look_at_blocks(look_everywhere_);
    look_everywhere_ = false;
  }
  const bool more = decode_piece();
  if (next_part_ >= parts_.size() && looked_everywhere_at_.count != 0) {
    // A thread may draw the time and be held up before it writes.
    constexpr Nanos kHeldUp = millis(200);
    decoder_->seen_until(looked_everywhere_at_ - kHeldUp);
    looked_everywhere_at_ = Nanos(0);
  }
  decoding_time_ = decoding_time_ + (clock_now(CLOCK_THREAD_CPUTIME_ID) - start);
  return more;
}

void LockEngine::settle() {
  if (!started_ || stopped_) return;
  look_everywhere_ = true;
  deadlocks_->look_if_due();
  decoding_->decoder().forget_ended_threads();
  capture_->known_threads().forget_ended();
  capture_->named_virtuals().forget();
}

void LockEngine::stop() {
  if (!started_ || stopped_) return;
  silence();
  LockDetail::silence();  // a class may have been changed since another thread silenced us
  deadlocks_->end();
  jvmtiEnv* jvmti = context_.jvm.jvmti();
  for (const jvmtiEvent event :
       {JVMTI_EVENT_MONITOR_CONTENDED_ENTER, JVMTI_EVENT_MONITOR_CONTENDED_ENTERED, JVMTI_EVENT_MONITOR_WAIT}) {
    (void)jvmti->SetEventNotificationMode(JVMTI_DISABLE, event, nullptr);
  }
  const jvmtiCapabilities taken = wanted_capabilities();
  (void)jvmti->RelinquishCapabilities(&taken);
  context_.threads.remove_listener(*capture_);
  stopping_ = true;
  // Twice: what a thread was still writing when the first look was taken.
  for (int i = 0; i < 2; ++i) {
    while (drain()) context_.make_room();
    look_everywhere_ = true;
  }
  while (drain()) context_.make_room();
  decoder_->write_ongoing();
  for (const LockRecord& park : capture_->known_threads().open_parks()) decoder_->ongoing_park(park);
  if (detail_) {
    capture_->add_open_holds([this](const LockRecord& hold) { decoder_->ongoing_hold(hold); });
    // Not before: stacks with methods of the classes as they are now have been decoded.
    if (Status status = detail_->take_off(); !status) warnings_.push_back(status.error().what);
  }
  last_stats_ = read_stats();
  stopped_ = true;
}

EngineStats LockEngine::read_stats() {
  EngineStats stats;
  if (!started_) return stats;
  LockCounters counters;
  capture_->add_counters_to(counters);
  const LockDecoder::Counts& counts = decoder_->counts();
  stats.dropped["no free buffer"] = counters.of(LockCount::kNoBuffer);
  stats.dropped["thread not registered"] = counters.of(LockCount::kUnknownThread);
  stats.dropped["no room for the monitor"] = counters.of(LockCount::kNoMonitor);
  stats.dropped["began before the recording, or its begin was dropped"] = counts.no_begin;
  stats.taken = counters.of(LockCount::kTaken) + counts.ongoing;
  stats.written = counts.written;
  stats.failed = counts.failed;
  stats.take_off_unwritten(context_.writer, {recording::Event::kJavaMonitorEnter, recording::Event::kMonitorExit,
                                             recording::Event::kJavaMonitorWait, recording::Event::kThreadPark,
                                             recording::Event::kUnpark, recording::Event::kLockHold});
  stats.memory = Bytes(static_cast<int64_t>(capture_->memory_used()));
  // An event that has a begin and an end is two calls.
  const uint64_t calls = counters.of(LockCount::kTaken) + counts.monitors + counts.parks;
  const double mean_ns = static_cast<double>(counters.of(LockCount::kMeasuredNs)) /
                         static_cast<double>(std::max<uint64_t>(1, counters.of(LockCount::kMeasured)));
  stats.in_app_threads = Nanos(static_cast<int64_t>(mean_ns * static_cast<double>(calls)));
  const auto number = [](uint64_t value) { return static_cast<int64_t>(value); };
  stats.counters = {
      {"decoding (ns of CPU time)", decoding_time_.count},
      {"in application threads (ns per event, mean)", static_cast<int64_t>(mean_ns)},
      {"begins without a free buffer", number(counters.of(LockCount::kBeginLost))},
      {"blocked by a monitor", number(counts.monitors)},
      {"monitors released while contended", number(counts.exits)},
      {"releases soon after another of the same owner, passed over", number(counters.of(LockCount::kPassedOver))},
      {"Object.wait", number(counts.waits)},
      {"Object.wait: shorter than 0.1 ms, not written", number(counters.of(LockCount::kShortWaits))},
      {"Object.wait: shorter than 0.1 ms, together (ns)", number(counters.of(LockCount::kShortWaitNs))},
      {"parks", number(counts.parks)},
      {"unparks", number(counts.unparks)},
      {"holds of locks that were waited for (--lock-detail)", number(counts.holds)},
      {"holds whose begin had no room", number(counters.of(LockCount::kHoldLost))},
      {"changing classes (ns)", detail_ ? detail_->time_taken().count : 0},
      {"chains: known", number(counters.of(LockCount::kChainKnown))},
      {"chains: new", number(counters.of(LockCount::kChainNew))},
      {"chains: decoded each time", number(counters.of(LockCount::kChainUnknown))},
      {"chains: no room", number(counters.of(LockCount::kChainLost))},
      {"frames of chains", number(counters.of(LockCount::kFrames))},
      {"frames known from the thread's last chains", number(counters.of(LockCount::kFramesKnown))},
      {"chains known from the last ones, and walked to try it", number(counters.of(LockCount::kTrailsTried))},
      {"chains known from the last ones, wrongly", number(counters.of(LockCount::kTrailsWrong))},
      {"locks without a name", number(counters.of(LockCount::kNameLost))},
      {"deadlocks", number(deadlocks_->counts().found)},
      {"deadlocks: looks for them", number(deadlocks_->counts().looks)},
      {"deadlocks: looking for them (ns of CPU time)", deadlocks_->counts().cpu.count},
      {"monitors without an order", number(counters.of(LockCount::kMonitorLost))},
  };
  return stats;
}

}  // namespace

std::unique_ptr<Engine> make_lock_engine(EngineContext& context) {
  return std::make_unique<LockEngine>(context);
}

}  // namespace tarsier::agent
