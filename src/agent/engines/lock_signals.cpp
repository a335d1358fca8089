#include "agent/engines/lock_signals.h"

#include <atomic>

#include "agent/engines/lock_visit.h"

namespace tarsier::agent {
namespace {

using Function = uint64_t (*)(uint64_t, uint64_t, uint64_t);

struct Originals {
  std::atomic<Function> wait{nullptr}, timed_wait{nullptr}, signal{nullptr};
};
Originals g_originals;

// The capture itself may ask the JVM for something, and wait for it.
bool comes_from_capture() {
  return t_lock_depth.visits;
}

uint64_t sleep_on(uint64_t variable, const std::atomic<Function>& original, uint64_t mutex, uint64_t time) {
  if (comes_from_capture()) return original.load(std::memory_order_relaxed)(variable, mutex, time);
  t_lock_depth.seen.slept_on = variable;
  if (const LockVisit capture; capture) capture->sleeps(variable);
  const uint64_t result = original.load(std::memory_order_relaxed)(variable, mutex, time);
  if (const LockVisit capture; capture) capture->slept(variable);
  return result;
}

uint64_t hooked_wait(uint64_t variable, uint64_t mutex, uint64_t) {
  return sleep_on(variable, g_originals.wait, mutex, 0);
}

uint64_t hooked_timed_wait(uint64_t variable, uint64_t mutex, uint64_t time) {
  return sleep_on(variable, g_originals.timed_wait, mutex, time);
}

[[gnu::noinline]] uint64_t hooked_signal(uint64_t variable, uint64_t a, uint64_t b) {
  const LockCapture::Caller caller = TARSIER_LOCK_CALLER();
  const auto signal = g_originals.signal.load(std::memory_order_relaxed);
  if (comes_from_capture()) return signal(variable, a, b);
  t_lock_depth.seen.signalled = variable;
  LockCapture::Release release;
  if (const LockVisit capture; capture) release = capture->signalling(variable);
  const uint64_t result = signal(variable, a, b);
  if (release.generation == 0) return result;
  if (const LockVisit capture; capture) capture->released(release, LockAct::kUnlocked, caller);
  return result;
}

struct Site {
  const char* name;
  std::atomic<Function> Originals::*original;
  Function replacement;
};
constexpr Site kSites[] = {
    {"pthread_cond_wait", &Originals::wait, hooked_wait},
    {"pthread_cond_timedwait", &Originals::timed_wait, hooked_timed_wait},
    {"pthread_cond_signal", &Originals::signal, hooked_signal},
};

}  // namespace

Result<LockSignals> LockSignals::prepare(const linux::LoadedLibrary& libjvm) {
  LockSignals signals;
  for (const Site& site : kSites) {
    auto hook = linux::ImportHook::prepare(libjvm, site.name);
    if (!hook) return std::move(hook).error();
    (g_originals.*site.original).store(reinterpret_cast<Function>(hook->original()), std::memory_order_relaxed);
    signals.hooks_.emplace_back(std::move(*hook), reinterpret_cast<uint64_t>(site.replacement));
  }
  return signals;
}

Status LockSignals::put_on() {
  for (auto& [hook, replacement] : hooks_) {
    if (Status status = hook.put_on(replacement); !status) return status;
  }
  return {};
}

Status LockSignals::take_off() {
  Status status;
  for (auto& [hook, replacement] : hooks_) {
    if (Status one = hook.take_off(); !one) status = std::move(one);
  }
  return status;
}

std::string LockSignals::names() const {
  std::string names;
  for (const auto& [hook, replacement] : hooks_) names += (names.empty() ? "" : ", ") + hook.name();
  return names;
}

}  // namespace tarsier::agent
