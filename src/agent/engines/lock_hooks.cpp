#include "agent/engines/lock_hooks.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <iterator>
#include <optional>
#include <span>

#include "agent/engines/lock_visit.h"
#include "agent/engines/unlocked_monitor.h"
#include "linux/loaded_elf.h"
#include "linux/threads_moved_on.h"

namespace tarsier::agent {
namespace {

using Function = uint64_t (*)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

struct Originals {
  std::atomic<Function> exit{nullptr}, unlock{nullptr}, unlock_c1{nullptr}, wait{nullptr}, notify{nullptr},
      reenter{nullptr};
  std::atomic<Function> park{nullptr}, unpark{nullptr};
};
Originals g_hooked;

// A lock record lies in the frame that locks, above the caller. What gets something else there is not the function that
// it was taken for.
bool is_lock_record(uint64_t address, const LockCapture::Caller& caller) {
  constexpr uint64_t kLargestFrame = 1 << 20;
  return address - caller.sp < kLargestFrame;
}

// ObjectMonitor::exit, or the part of it that is left when the compiler has put the rest into its callers. The monitor
// is the first argument in all releases.
[[gnu::noinline]] uint64_t hooked_exit(uint64_t monitor, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                                       uint64_t f, uint64_t g) {
  LockDepth& mine = t_lock_depth;
  LockCapture::Caller caller = TARSIER_LOCK_CALLER();
  if (mine.in_wait == 0) caller.lock_record = LockCapture::kRecordInCode;
  ++mine.seen.releases;
  mine.seen.released = monitor;
  LockCapture::Release release;
  if (const LockVisit capture(mine); capture) release = capture->releasing(monitor);
  const uint64_t result = g_hooked.exit.load(std::memory_order_relaxed)(monitor, a, b, c, d, e, f, g);
  if (release.generation == 0) return result;
  mine.released = true;
  if (const LockVisit capture(mine); capture) {
    capture->released(release, mine.in_wait > 0 ? LockAct::kWaits : LockAct::kExit,
                      mine.unlock != nullptr ? *mine.unlock : caller);
  }
  return result;
}

// SharedRuntime::complete_monitor_unlocking_C(oopDesc*, BasicLock*, JavaThread*), for compiled code. Since 24 that may
// have released the monitor by itself and found that somebody waits: unless it gets it again, ObjectMonitor::exit is
// not called.
[[gnu::noinline]] uint64_t hooked_unlock(uint64_t object, uint64_t lock, uint64_t java_thread, uint64_t c, uint64_t d,
                                         uint64_t e, uint64_t f, uint64_t g) {
  LockDepth& mine = t_lock_depth;
  LockCapture::Caller caller = TARSIER_LOCK_CALLER();
  caller.lock_record = is_lock_record(lock, caller) ? lock : 0;
  LockCapture::Release release;
  if (const LockVisit capture(mine); capture && caller.lock_record != 0) {
    if (const uint64_t monitor = capture->just_unlocked(java_thread)) release = capture->unlocked(monitor);
  }
  mine.released = false;
  mine.unlock = &caller;
  const uint64_t result = g_hooked.unlock.load(std::memory_order_relaxed)(object, lock, java_thread, c, d, e, f, g);
  mine.unlock = nullptr;
  if (release.generation == 0 || mine.released) return result;
  if (const LockVisit capture(mine); capture) capture->released(release, LockAct::kUnlocked, caller);
  return result;
}

// Runtime1::monitorexit(JavaThread*, BasicObjectLock*), for code of the first compiler.
[[gnu::noinline]] uint64_t hooked_unlock_c1(uint64_t java_thread, uint64_t lock, uint64_t b, uint64_t c, uint64_t d,
                                            uint64_t e, uint64_t f, uint64_t g) {
  LockDepth& mine = t_lock_depth;
  LockCapture::Caller caller = TARSIER_LOCK_CALLER();
  caller.lock_record = is_lock_record(lock, caller) ? lock : 0;
  mine.unlock = &caller;
  const uint64_t result = g_hooked.unlock_c1.load(std::memory_order_relaxed)(java_thread, lock, b, c, d, e, f, g);
  mine.unlock = nullptr;
  return result;
}

// ObjectMonitor::wait: releases inside of it are no ends of a synchronized region.
[[gnu::noinline]] uint64_t hooked_wait(uint64_t monitor, uint64_t timeout_ms, uint64_t b, uint64_t c, uint64_t d,
                                       uint64_t e, uint64_t f, uint64_t g) {
  LockDepth& mine = t_lock_depth;
  mine.seen.waited = monitor;
  if (const LockVisit capture(mine); capture) capture->waiting(monitor);
  ++mine.in_wait;
  const uint64_t result = g_hooked.wait.load(std::memory_order_relaxed)(monitor, timeout_ms, b, c, d, e, f, g);
  --mine.in_wait;
  if (const LockVisit capture(mine); capture) capture->waited(static_cast<int64_t>(timeout_ms));
  return result;
}

// ObjectMonitor::INotify: one of those that wait is moved to those that are blocked.
[[gnu::noinline]] uint64_t hooked_notify(uint64_t monitor, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                                         uint64_t f, uint64_t g) {
  LockDepth& mine = t_lock_depth;
  mine.seen.notified = monitor;
  if (const LockVisit capture(mine); capture) capture->notifying(monitor);
  return g_hooked.notify.load(std::memory_order_relaxed)(monitor, a, b, c, d, e, f, g);
}

// ObjectMonitor::ReenterI: that one wants it back.
[[gnu::noinline]] uint64_t hooked_reenter(uint64_t monitor, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                                          uint64_t f, uint64_t g) {
  LockDepth& mine = t_lock_depth;
  mine.seen.reentered = monitor;
  if (const LockVisit capture(mine); capture) capture->reentering(monitor);
  const uint64_t result = g_hooked.reenter.load(std::memory_order_relaxed)(monitor, a, b, c, d, e, f, g);
  if (const LockVisit capture(mine); capture) capture->reentered();
  return result;
}

// Unsafe_Park(JNIEnv*, jobject, jboolean, jlong)
[[gnu::noinline]] uint64_t hooked_park(uint64_t env, uint64_t unsafe, uint64_t is_deadline, uint64_t time, uint64_t d,
                                       uint64_t e, uint64_t f, uint64_t g) {
  LockDepth& mine = t_lock_depth;
  const LockCapture::Caller caller = TARSIER_LOCK_CALLER();
  auto* jni = reinterpret_cast<JNIEnv*>(env);
  ++mine.seen.parks;
  LockCapture::Park park;
  if (const LockVisit capture(mine); capture) {
    park = capture->park(g_lock_door.jvmti.load(std::memory_order_relaxed), jni, (is_deadline & 0xff) != 0,
                         static_cast<int64_t>(time), caller);
  }
  const uint64_t result = g_hooked.park.load(std::memory_order_relaxed)(env, unsafe, is_deadline, time, d, e, f, g);
  if (park.session == 0) return result;
  if (const LockVisit capture(mine); capture) capture->parked(jni, park);
  return result;
}

// Unsafe_Unpark(JNIEnv*, jobject, jobject)
[[gnu::noinline]] uint64_t hooked_unpark(uint64_t env, uint64_t unsafe, uint64_t target, uint64_t c, uint64_t d,
                                         uint64_t e, uint64_t f, uint64_t g) {
  LockDepth& mine = t_lock_depth;
  const LockCapture::Caller caller = TARSIER_LOCK_CALLER();
  ++mine.seen.unparks;
  LockCapture::Unpark unpark;
  if (const LockVisit capture(mine); capture) {
    unpark = capture->unparking(reinterpret_cast<JNIEnv*>(env), reinterpret_cast<jobject>(target));
  }
  const uint64_t result = g_hooked.unpark.load(std::memory_order_relaxed)(env, unsafe, target, c, d, e, f, g);
  if (unpark.session == 0) return result;
  if (const LockVisit capture(mine); capture) capture->unparked(unpark, &caller);
  return result;
}

struct Site {
  LockRole role;
  const char* meaning;               // what it is called by people
  std::array<const char*, 4> names;  // the first that is there
  uint8_t arguments;
  std::atomic<Function> Originals::*original;
  Function replacement;
};
const Site kExit = {LockRole::kExit,
                    "ObjectMonitor::exit",
                    {"_ZN13ObjectMonitor4exitEP10JavaThreadb.part.0", "_ZN13ObjectMonitor4exitEP10JavaThreadb",
                     "_ZN13ObjectMonitor4exitEbP6Thread.part.0", "_ZN13ObjectMonitor4exitEbP6Thread"},
                    3,
                    &Originals::exit,
                    hooked_exit};
const Site kWait = {LockRole::kWait,
                    "ObjectMonitor::wait",
                    {"_ZN13ObjectMonitor4waitElbP10JavaThread", "_ZN13ObjectMonitor4waitElbP6Thread"},
                    4,
                    &Originals::wait,
                    hooked_wait};
const Site kUnlock = {LockRole::kUnlock,
                      "complete_monitor_unlocking_C",
                      {"_ZN13SharedRuntime28complete_monitor_unlocking_CEP7oopDescP9BasicLockP10JavaThread"},
                      3,
                      &Originals::unlock,
                      hooked_unlock};
const Site kUnlockC1 = {
    LockRole::kUnlockC1,   "Runtime1::monitorexit", {"_ZN8Runtime111monitorexitEP10JavaThreadP15BasicObjectLock"}, 2,
    &Originals::unlock_c1, hooked_unlock_c1};
const Site kNotify = {LockRole::kNotify,
                      "INotify",
                      {"_ZN13ObjectMonitor7INotifyEP10JavaThread", "_ZN13ObjectMonitor15notify_internalEP10JavaThread",
                       "_ZN13ObjectMonitor7INotifyEP6Thread"},
                      2,
                      &Originals::notify,
                      hooked_notify};
const Site kReenter = {LockRole::kReenter,
                       "ReenterI",
                       {"_ZN13ObjectMonitor8ReenterIEP10JavaThreadP12ObjectWaiter",
                        "_ZN13ObjectMonitor16reenter_internalEP10JavaThreadP12ObjectWaiter",
                        "_ZN13ObjectMonitor8ReenterIEP6ThreadP12ObjectWaiter"},
                       3,
                       &Originals::reenter,
                       hooked_reenter};
const Site kPark = {LockRole::kPark, "Unsafe_Park", {"Unsafe_Park"}, 4, &Originals::park, hooked_park};
const Site kUnpark = {LockRole::kUnpark, "Unsafe_Unpark", {"Unsafe_Unpark"}, 3, &Originals::unpark, hooked_unpark};

std::string hexadecimal(uint64_t value) {
  char digits[16];
  return "0x" + std::string(digits, std::to_chars(std::begin(digits), std::end(digits), value, 16).ptr);
}

}  // namespace

Result<LockHooks> LockHooks::prepare(LockWay way, const Natives& natives) {
  const auto library = linux::find_library("libjvm.so");
  if (!library) return Error{Errc::kUnsupported, "libjvm.so is not among the loaded libraries"};
  auto file = linux::open_loaded(*library);
  if (!file) return std::move(file).error();
  const linux::ElfSection* text = file->section(".text");
  if (text == nullptr) return Error{Errc::kUnsupported, "libjvm.so has no section .text"};
  std::optional<LockFunctions> functions;
  LockHooks hooks;
  if (way == LockWay::kSignals) {
    auto signals = LockSignals::prepare(*library);
    if (!signals) return std::move(signals).error();
    hooks.signals_.emplace(std::move(*signals));
    functions.emplace();
  } else if (way != LockWay::kSymbols) {
    auto found = way == LockWay::kProbes ? LockFunctions::by_probes(*file) : LockFunctions::by_exports(*file);
    if (!found) return std::move(found).error();
    functions = *found;
  }
  if (functions) {
    if (natives.park != 0) functions->set(LockRole::kPark, natives.park - library->base);
    if (natives.unpark != 0) functions->set(LockRole::kUnpark, natives.unpark - library->base);
  }
  std::string problem;
  bool missing = false;
  const auto add_at = [&](const Site& site, const linux::ElfSymbol& found, std::string name) -> uint64_t {
    const uint64_t address = found.address;
    if (address < text->address || address >= text->address + text->size) return 0;
    const uint64_t function = library->base + address;
    auto hook = linux::FunctionHook::prepare(
        {library->path, function, text->offset + (address - text->address), found.size, site.arguments});
    if (!hook) {
      problem = hook.error().what;
      return 0;
    }
    (g_hooked.*site.original).store(reinterpret_cast<Function>(hook->original()), std::memory_order_relaxed);
    hooks.hooks_.push_back(
        {site.role, std::move(*hook), reinterpret_cast<uint64_t>(site.replacement), std::move(name)});
    return function;
  };
  const auto add = [&](const Site& site) -> uint64_t {
    if (functions) {
      problem = std::string(site.meaning) + " was not found";
      const uint64_t address = functions->of(site.role);
      return add_at(site, {address, 0}, site.meaning + (" at " + hexadecimal(address)));
    }
    for (const char* name : site.names) {
      const auto symbol = name != nullptr ? file->symbol(name) : std::nullopt;
      if (symbol && symbol->address != 0) return add_at(site, *symbol, name);
    }
    missing = true;
    problem = "this JVM's library has no symbol " + std::string(site.names[0]) + ": it was stripped";
    return 0;
  };
  if (!hooks.signals_ && add(kExit) == 0) return Error{missing ? Errc::kNotFound : Errc::kUnsupported, problem};
  if (add(kWait) != 0 && add(kReenter) != 0) (void)add(kNotify);
  if (const uint64_t unlock = add(kUnlock)) {
    constexpr size_t kLook = 160;
    hooks.unlocked_monitor_ = find_unlocked_monitor(std::span(reinterpret_cast<const uint8_t*>(unlock), kLook));
  }
  (void)add(kUnlockC1);
  if (add(kPark) != 0) (void)add(kUnpark);
  return hooks;
}

void LockHooks::forget_waiting() {
  std::vector<Hook> kept;
  for (Hook& hook : hooks_) {
    const LockRole role = hook.role;
    if (role == LockRole::kWait || role == LockRole::kReenter || role == LockRole::kNotify) continue;
    kept.push_back(std::move(hook));
  }
  hooks_.swap(kept);
}

bool LockHooks::has(LockRole role) const {
  return std::any_of(hooks_.begin(), hooks_.end(), [role](const Hook& hook) { return hook.role == role; });
}

std::string LockHooks::names() const {
  std::string names;
  if (signals_) names = signals_->names();
  for (const Hook& hook : hooks_) names += (names.empty() ? "" : ", ") + hook.name;
  return names;
}

Status LockHooks::put_on(LockCapture* capture, jvmtiEnv* jvmti) {
  g_lock_door.gate.open();
  g_lock_door.jvmti.store(jvmti, std::memory_order_relaxed);
  g_lock_door.capture.store(capture, std::memory_order_seq_cst);
  Status status = signals_ ? signals_->put_on() : Status();
  for (Hook& hook : hooks_) {
    if (status) status = hook.function.put_on(hook.replacement);
  }
  if (!status) (void)take_off();
  return status;
}

Status LockHooks::take_off() {
  Status status = signals_ ? signals_->take_off() : Status();
  for (Hook& hook : hooks_) {
    if (Status one = hook.function.take_off(); !one) status = std::move(one);
  }
  g_lock_door.capture.store(nullptr, std::memory_order_seq_cst);
  g_lock_door.gate.wait_until_left();
  const bool padded =
      std::any_of(hooks_.begin(), hooks_.end(), [](const Hook& h) { return h.function.uses_padding(); });
  // A machine so busy that some thread does not run in all that time: a few bytes that nobody reaches stay.
  constexpr Nanos kPatience = seconds(2);
  if (padded && linux::threads_moved_on(kPatience)) {
    for (Hook& hook : hooks_) {
      if (Status one = hook.function.clear_padding(); !one) status = std::move(one);
    }
  }
  return status;
}

}  // namespace tarsier::agent
