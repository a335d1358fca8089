#include "agent/engines/lock_hooks.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstring>
#include <iterator>
#include <optional>

#include "linux/elf.h"
#include "linux/loaded_library.h"
#include "linux/thread_gate.h"

namespace tarsier::agent {
namespace {

using Function = uint64_t (*)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

// For ever: threads that were parked when the last session ended come back here at any time.
struct Hooked {
  std::atomic<LockCapture*> capture{nullptr};
  std::atomic<jvmtiEnv*> jvmti{nullptr};
  linux::ThreadGate gate;
  std::atomic<Function> exit{nullptr}, unlock{nullptr}, unlock_c1{nullptr}, wait{nullptr}, notify{nullptr},
      reenter{nullptr};
  std::atomic<Function> park{nullptr}, unpark{nullptr};
};
Hooked g_hooked;

// In which functions of ours the thread is, and what they have seen.
struct Depth {
  uint32_t in_wait;
  bool released;                      // since the unlocking was entered
  const LockCapture::Caller* unlock;  // where compiled code has called for the release; null: it has not
  linux::ThreadGate::Place* place;    // null: not asked for yet
  LockHooks::Seen seen;
};
thread_local Depth t_depth;

class Visit {
 public:
  Visit() {
    if (t_depth.place == nullptr) t_depth.place = &g_hooked.gate.place_of(&t_depth);
    t_depth.place->enter();
    capture_ = g_hooked.capture.load(std::memory_order_seq_cst);  // see ThreadGate
  }
  ~Visit() { t_depth.place->leave(); }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;
  explicit operator bool() const { return capture_ != nullptr; }
  LockCapture* operator->() const { return capture_; }

 private:
  LockCapture* capture_;
};

// What the registers were where the function was called that this stands in. To be used in its outermost block.
#define TARSIER_CALLER()                                                                                        \
  LockCapture::Caller {                                                                                         \
    reinterpret_cast<uint64_t>(__builtin_return_address(0)), reinterpret_cast<uint64_t>(__builtin_dwarf_cfa()), \
        *static_cast<const uint64_t*>(__builtin_frame_address(0))                                               \
  }

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
  const LockCapture::Caller caller = TARSIER_CALLER();
  ++t_depth.seen.releases;
  t_depth.seen.released = monitor;
  LockCapture::Release release;
  if (const Visit capture; capture) release = capture->releasing(monitor);
  const uint64_t result = g_hooked.exit.load(std::memory_order_relaxed)(monitor, a, b, c, d, e, f, g);
  if (release.generation == 0) return result;
  t_depth.released = true;
  if (const Visit capture; capture) {
    capture->released(release, t_depth.in_wait > 0 ? LockAct::kWaits : LockAct::kExit,
                      t_depth.unlock != nullptr ? *t_depth.unlock : caller);
  }
  return result;
}

// SharedRuntime::complete_monitor_unlocking_C(oopDesc*, BasicLock*, JavaThread*), for compiled code. Since 24 that may
// have released the monitor by itself and found that somebody waits: unless it gets it again, ObjectMonitor::exit is
// not called.
[[gnu::noinline]] uint64_t hooked_unlock(uint64_t object, uint64_t lock, uint64_t java_thread, uint64_t c, uint64_t d,
                                         uint64_t e, uint64_t f, uint64_t g) {
  LockCapture::Caller caller = TARSIER_CALLER();
  caller.lock_record = is_lock_record(lock, caller) ? lock : 0;
  LockCapture::Release release;
  if (const Visit capture; capture && caller.lock_record != 0) {
    if (const uint64_t monitor = capture->just_unlocked(java_thread)) release = capture->unlocked(monitor);
  }
  t_depth.released = false;
  t_depth.unlock = &caller;
  const uint64_t result = g_hooked.unlock.load(std::memory_order_relaxed)(object, lock, java_thread, c, d, e, f, g);
  t_depth.unlock = nullptr;
  if (release.generation == 0 || t_depth.released) return result;
  if (const Visit capture; capture) capture->released(release, LockAct::kUnlocked, caller);
  return result;
}

// Runtime1::monitorexit(JavaThread*, BasicObjectLock*), for code of the first compiler.
[[gnu::noinline]] uint64_t hooked_unlock_c1(uint64_t java_thread, uint64_t lock, uint64_t b, uint64_t c, uint64_t d,
                                            uint64_t e, uint64_t f, uint64_t g) {
  LockCapture::Caller caller = TARSIER_CALLER();
  caller.lock_record = is_lock_record(lock, caller) ? lock : 0;
  t_depth.unlock = &caller;
  const uint64_t result = g_hooked.unlock_c1.load(std::memory_order_relaxed)(java_thread, lock, b, c, d, e, f, g);
  t_depth.unlock = nullptr;
  return result;
}

// ObjectMonitor::wait: releases inside of it are no ends of a synchronized region.
[[gnu::noinline]] uint64_t hooked_wait(uint64_t monitor, uint64_t timeout_ms, uint64_t b, uint64_t c, uint64_t d,
                                       uint64_t e, uint64_t f, uint64_t g) {
  t_depth.seen.waited = monitor;
  if (const Visit capture; capture) capture->waiting(monitor);
  ++t_depth.in_wait;
  const uint64_t result = g_hooked.wait.load(std::memory_order_relaxed)(monitor, timeout_ms, b, c, d, e, f, g);
  --t_depth.in_wait;
  if (const Visit capture; capture) capture->waited(static_cast<int64_t>(timeout_ms));
  return result;
}

// ObjectMonitor::INotify: one of those that wait is moved to those that are blocked.
[[gnu::noinline]] uint64_t hooked_notify(uint64_t monitor, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                                         uint64_t f, uint64_t g) {
  t_depth.seen.notified = monitor;
  if (const Visit capture; capture) capture->notifying(monitor);
  return g_hooked.notify.load(std::memory_order_relaxed)(monitor, a, b, c, d, e, f, g);
}

// ObjectMonitor::ReenterI: that one wants it back.
[[gnu::noinline]] uint64_t hooked_reenter(uint64_t monitor, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                                          uint64_t f, uint64_t g) {
  t_depth.seen.reentered = monitor;
  if (const Visit capture; capture) capture->reentering(monitor);
  const uint64_t result = g_hooked.reenter.load(std::memory_order_relaxed)(monitor, a, b, c, d, e, f, g);
  if (const Visit capture; capture) capture->reentered();
  return result;
}

// Unsafe_Park(JNIEnv*, jobject, jboolean, jlong)
[[gnu::noinline]] uint64_t hooked_park(uint64_t env, uint64_t unsafe, uint64_t is_deadline, uint64_t time, uint64_t d,
                                       uint64_t e, uint64_t f, uint64_t g) {
  const LockCapture::Caller caller = TARSIER_CALLER();
  auto* jni = reinterpret_cast<JNIEnv*>(env);
  ++t_depth.seen.parks;
  LockCapture::Park park;
  if (const Visit capture; capture) {
    park = capture->park(g_hooked.jvmti.load(std::memory_order_relaxed), jni, (is_deadline & 0xff) != 0,
                         static_cast<int64_t>(time), caller);
  }
  const uint64_t result = g_hooked.park.load(std::memory_order_relaxed)(env, unsafe, is_deadline, time, d, e, f, g);
  if (park.session == 0) return result;
  if (const Visit capture; capture) capture->parked(jni, park);
  return result;
}

// Unsafe_Unpark(JNIEnv*, jobject, jobject)
[[gnu::noinline]] uint64_t hooked_unpark(uint64_t env, uint64_t unsafe, uint64_t target, uint64_t c, uint64_t d,
                                         uint64_t e, uint64_t f, uint64_t g) {
  const LockCapture::Caller caller = TARSIER_CALLER();
  ++t_depth.seen.unparks;
  LockCapture::Unpark unpark;
  if (const Visit capture; capture) {
    unpark = capture->unparking(reinterpret_cast<JNIEnv*>(env), reinterpret_cast<jobject>(target));
  }
  const uint64_t result = g_hooked.unpark.load(std::memory_order_relaxed)(env, unsafe, target, c, d, e, f, g);
  if (unpark.session == 0) return result;
  if (const Visit capture; capture) capture->unparked(unpark, caller);
  return result;
}

struct Site {
  LockRole role;
  const char* meaning;               // what it is called by people
  std::array<const char*, 4> names;  // the first that is there
  std::atomic<Function> Hooked::*original;
  Function replacement;
};
const Site kExit = {LockRole::kExit,
                    "ObjectMonitor::exit",
                    {"_ZN13ObjectMonitor4exitEP10JavaThreadb.part.0", "_ZN13ObjectMonitor4exitEP10JavaThreadb",
                     "_ZN13ObjectMonitor4exitEbP6Thread.part.0", "_ZN13ObjectMonitor4exitEbP6Thread"},
                    &Hooked::exit,
                    hooked_exit};
const Site kWait = {LockRole::kWait,
                    "ObjectMonitor::wait",
                    {"_ZN13ObjectMonitor4waitElbP10JavaThread", "_ZN13ObjectMonitor4waitElbP6Thread"},
                    &Hooked::wait,
                    hooked_wait};
const Site kUnlock = {LockRole::kUnlock,
                      "complete_monitor_unlocking_C",
                      {"_ZN13SharedRuntime28complete_monitor_unlocking_CEP7oopDescP9BasicLockP10JavaThread"},
                      &Hooked::unlock,
                      hooked_unlock};
const Site kUnlockC1 = {LockRole::kUnlockC1,
                        "Runtime1::monitorexit",
                        {"_ZN8Runtime111monitorexitEP10JavaThreadP15BasicObjectLock"},
                        &Hooked::unlock_c1,
                        hooked_unlock_c1};
const Site kNotify = {LockRole::kNotify,
                      "INotify",
                      {"_ZN13ObjectMonitor7INotifyEP10JavaThread", "_ZN13ObjectMonitor15notify_internalEP10JavaThread",
                       "_ZN13ObjectMonitor7INotifyEP6Thread"},
                      &Hooked::notify,
                      hooked_notify};
const Site kReenter = {LockRole::kReenter,
                       "ReenterI",
                       {"_ZN13ObjectMonitor8ReenterIEP10JavaThreadP12ObjectWaiter",
                        "_ZN13ObjectMonitor16reenter_internalEP10JavaThreadP12ObjectWaiter",
                        "_ZN13ObjectMonitor8ReenterIEP6ThreadP12ObjectWaiter"},
                       &Hooked::reenter,
                       hooked_reenter};
const Site kPark = {LockRole::kPark, "Unsafe_Park", {"Unsafe_Park"}, &Hooked::park, hooked_park};
const Site kUnpark = {LockRole::kUnpark, "Unsafe_Unpark", {"Unsafe_Unpark"}, &Hooked::unpark, hooked_unpark};

// Where a JavaThread keeps the monitor that was just released, by the code that looks there:
//   ldr xA, [xN, #offset];  cbz xA, ..;  str xzr, [xN, #offset]
uint64_t find_unlocked_monitor(uint64_t function) {
#if defined(__aarch64__)
  constexpr size_t kLook = 40;
  uint32_t code[kLook];
  std::memcpy(code, reinterpret_cast<const void*>(function), sizeof(code));
  for (size_t i = 0; i + 2 < kLook; ++i) {
    const bool loads = (code[i] & 0xffc00000) == 0xf9400000;
    const bool tests = (code[i + 1] & 0xff00001f) == (0xb4000000 | (code[i] & 0x1f));
    const bool clears = (code[i + 2] & 0xffc0001f) == 0xf900001f && ((code[i + 2] ^ code[i]) & 0x3fffe0) == 0;
    if (loads && tests && clears) return uint64_t{(code[i] >> 10) & 0xfff} * 8;
  }
#endif
  (void)function;
  return 0;
}

std::string hexadecimal(uint64_t value) {
  char digits[16];
  return "0x" + std::string(digits, std::to_chars(std::begin(digits), std::end(digits), value, 16).ptr);
}

}  // namespace

Result<LockHooks> LockHooks::prepare(LockWay way, const Natives& natives) {
  const auto library = linux::find_library("libjvm.so");
  if (!library) return Error{Errc::kUnsupported, "libjvm.so is not among the loaded libraries"};
  auto file = linux::ElfFile::open(library->path);
  if (!file) return std::move(file).error();
  const linux::ElfSection* text = file->section(".text");
  if (text == nullptr) return Error{Errc::kUnsupported, "libjvm.so has no section .text"};
  std::optional<LockFunctions> functions;
  if (way != LockWay::kSymbols) {
    auto found = way == LockWay::kProbes ? LockFunctions::by_probes(*file) : LockFunctions::by_exports(*file);
    if (!found) return std::move(found).error();
    functions = *found;
    if (natives.park != 0) functions->set(LockRole::kPark, natives.park - library->base);
    if (natives.unpark != 0) functions->set(LockRole::kUnpark, natives.unpark - library->base);
  }
  LockHooks hooks;
  std::string problem;
  bool missing = false;
  const auto add_at = [&](const Site& site, uint64_t address, std::string name) -> uint64_t {
    if (address < text->address || address >= text->address + text->size) return 0;
    const uint64_t function = library->base + address;
    auto hook = linux::FunctionHook::prepare(library->path, function, text->offset + (address - text->address));
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
      return add_at(site, functions->of(site.role), site.meaning + (" at " + hexadecimal(functions->of(site.role))));
    }
    for (const char* name : site.names) {
      const auto symbol = name != nullptr ? file->symbol(name) : std::nullopt;
      if (symbol && symbol->address != 0) return add_at(site, symbol->address, name);
    }
    missing = true;
    problem = "this JVM's library has no symbol " + std::string(site.names[0]) + ": it was stripped";
    return 0;
  };
  if (add(kExit) == 0) return Error{missing ? Errc::kNotFound : Errc::kUnsupported, problem};
  if (add(kWait) != 0 && add(kReenter) != 0) (void)add(kNotify);
  if (const uint64_t unlock = add(kUnlock)) hooks.unlocked_monitor_ = find_unlocked_monitor(unlock);
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
  for (const Hook& hook : hooks_) names += (names.empty() ? "" : ", ") + hook.name;
  return names;
}

LockHooks::Seen LockHooks::seen_by_this_thread() {
  return t_depth.seen;
}

Status LockHooks::put_on(LockCapture* capture, jvmtiEnv* jvmti) {
  g_hooked.gate.open();
  g_hooked.jvmti.store(jvmti, std::memory_order_relaxed);
  g_hooked.capture.store(capture, std::memory_order_seq_cst);
  for (Hook& hook : hooks_) {
    if (Status status = hook.function.put_on(hook.replacement); !status) {
      (void)take_off();
      return status;
    }
  }
  return {};
}

Status LockHooks::take_off() {
  Status status;
  for (Hook& hook : hooks_) {
    if (Status one = hook.function.take_off(); !one) status = std::move(one);
  }
  g_hooked.capture.store(nullptr, std::memory_order_seq_cst);
  g_hooked.gate.wait_until_left();
  return status;
}

}  // namespace tarsier::agent
