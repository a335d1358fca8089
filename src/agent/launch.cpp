#include "agent/launch.h"

#include <jvmti.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <string>

#include "agent/jvm.h"
#include "agent/process_claim.h"
#include "agent/session.h"
#include "agent/session_slot.h"
#include "base/clock.h"
#include "base/own_heap.h"

namespace tarsier::agent {
namespace {

void* run_session(void* argument) {
  std::unique_ptr<std::shared_ptr<Session>> session(static_cast<std::shared_ptr<Session>*>(argument));
  ::pthread_setname_np(::pthread_self(), "tarsier");
  (*session)->run();
  session.reset();
  own_heap().trim();
  // What the JVM allocated for us is in the arenas of our threads, each time in others.
  ::malloc_trim(0);
  return nullptr;
}

std::string describe_holder(bool other_copy) {
  const ProcessClaim& claim = process_claim();
  std::string text = "this JVM is already being recorded";
  const int64_t recorder = claim.recorder_pid.load(), ends_at = claim.ends_at.load();
  if (recorder != 0) text += " by process " + std::to_string(recorder);
  if (other_copy) text += " with another copy of this agent";
  if (ends_at != 0) {
    const int64_t left = std::max<int64_t>(0, ends_at - monotonic_now().count);
    text += ", " + std::to_string((left + 999'999'999) / 1'000'000'000) + " seconds left";
  } else {
    text += ", until it is stopped";
  }
  return text + ": wait for it or stop it";
}

// The loser hears it from the agent that the winner uses.
void refuse(const control::AgentString& options, const Error& error) {
  if (options.connect.empty()) {
    std::fprintf(stderr, "tarsier: %s\n", error.what.c_str());
    return;
  }
  auto socket = control::connect_to(options.connect, seconds(2));
  if (!socket) return;
  control::Channel channel(std::move(*socket));
  (void)channel.send(control::Failed{error.code, error.what}, seconds(2));
}

// Until the session in the slot can say for whom and how long it records, or has failed to. Another copy's can't wake
// us.
void wait_for_holder(const std::shared_ptr<Session>& holder) {
  if (holder != nullptr) return holder->wait_until_started();
  for (int i = 0; i < 200 && process_claim().state.load() == ProcessClaim::kStarting; ++i) ::usleep(10'000);
}

struct AtVmInit {
  control::AgentString options;
  std::unique_ptr<PreciseDebugInfo> debug_info;
};

std::shared_ptr<Session> launch(JavaVM* vm, const control::AgentString& options,
                                std::unique_ptr<PreciseDebugInfo> debug_info);

void JNICALL on_vm_init(jvmtiEnv* jvmti, JNIEnv* jni, jthread) {
  JavaVM* vm = nullptr;
  jni->GetJavaVM(&vm);
  void* stored = nullptr;
  jvmti->GetEnvironmentLocalStorage(&stored);
  const std::unique_ptr<AtVmInit> waiting(static_cast<AtVmInit*>(stored));
  jvmti->SetEnvironmentLocalStorage(nullptr);
  jvmti->SetEventNotificationMode(JVMTI_DISABLE, JVMTI_EVENT_VM_INIT, nullptr);
  try {
    const auto session = launch(vm, waiting->options, std::move(waiting->debug_info));
    if (session != nullptr) session->wait_until_started();  // main has not begun yet: nothing of it shall be missed
  } catch (const std::exception& e) {
    std::fprintf(stderr, "tarsier: %s; the application runs on without being recorded\n", e.what());
  }
}

// Empty if it can't be, because another session runs or for want of a thread: then whoever asked has been told.
std::shared_ptr<Session> launch(JavaVM* vm, const control::AgentString& options,
                                std::unique_ptr<PreciseDebugInfo> debug_info) {
  auto session = std::make_shared<Session>(vm, options, std::move(debug_info));
  // Before anything is taken that would have to be given back if there is no memory.
  auto argument = std::make_unique<std::shared_ptr<Session>>(session);
  std::shared_ptr<Session> holder;
  while (!occupy_slot(session, &holder)) {
    // It may be about to start, and can't say yet for whom and how long; or about to fail, and then it is our turn.
    wait_for_holder(holder);
    if (session_in_slot() != holder || process_claim().state.load() == ProcessClaim::kFree) continue;
    refuse(options, Error{Errc::kBusy, describe_holder(holder == nullptr)});
    return nullptr;
  }
  // Our thread handles no signal of the application's: it starts with all of them blocked.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  ::pthread_attr_setstacksize(&attributes, 1 << 20);
  pthread_t thread{};
  const int err = ::pthread_create(&thread, &attributes, run_session, argument.get());
  ::pthread_attr_destroy(&attributes);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (err != 0) {
    vacate_slot(session.get());
    refuse(options,
           errno_error("the JVM's process can't have one more thread, which recording needs (raise its limit of "
                       "processes, ulimit -u, or the pids limit of its container)",
                       err, Errc::kNotPermitted));
    return nullptr;
  }
  (void)argument.release();
  return session;
}

}  // namespace

Status launch(JavaVM* vm, const control::AgentString& options) {
  (void)launch(vm, options, nullptr);
  return {};
}

Status launch_at_vm_init(JavaVM* vm, const control::AgentString& options) {
  jvmtiEnv* jvmti = jvmti_environment(vm);
  if (jvmti == nullptr) return Error{Errc::kUnsupported, "this JVM offers no JVMTI environment"};
  jvmtiEventCallbacks callbacks{};
  callbacks.VMInit = on_vm_init;
  auto stored = std::make_unique<AtVmInit>(
      AtVmInit{options, std::make_unique<PreciseDebugInfo>(LibJvm(vm), PreciseDebugInfo::When::kBeforeInit)});
  if (jvmti->SetEventCallbacks(&callbacks, sizeof(callbacks)) != JVMTI_ERROR_NONE ||
      jvmti->SetEnvironmentLocalStorage(stored.get()) != JVMTI_ERROR_NONE ||
      jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, nullptr) != JVMTI_ERROR_NONE) {
    jvmti->SetEnvironmentLocalStorage(nullptr);
    return Error{Errc::kFailed, "the JVM does not take our callback for its start"};
  }
  (void)stored.release();
  return {};
}

}  // namespace tarsier::agent
