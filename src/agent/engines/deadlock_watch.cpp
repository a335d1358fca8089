#include "agent/engines/deadlock_watch.h"

#include <array>
#include <thread>

#include "base/clock.h"

namespace tarsier::agent {
namespace {

// The second look comes soon: only then some owners are asked for.
constexpr Nanos kSecondLook = seconds(1);
constexpr Nanos kBetweenLooks = seconds(10);
constexpr Nanos kBeforeLastLook = millis(10);
constexpr size_t kMaxDepth = 1024;

void sleep(Nanos time) {
  std::this_thread::sleep_for(std::chrono::nanoseconds(time.count));
}

}  // namespace

DeadlockWatch::DeadlockWatch(EngineContext& context, LockThreads& threads, const LockLayout& locks)
    : context_(context), threads_(threads), waits_(context, threads, locks), finder_(sleep), stacks_(context) {}

void DeadlockWatch::begin() {
  look();
  next_look_ = monotonic_now() + kSecondLook;
}

void DeadlockWatch::look_if_due() {
  if (monotonic_now() < next_look_) return;
  look();
  next_look_ = monotonic_now() + kBetweenLooks;
}

void DeadlockWatch::end() {
  look();
  if (!waits_.put_off()) return;
  sleep(kBeforeLastLook);
  look();
}

void DeadlockWatch::look() {
  const Nanos start = clock_now(CLOCK_THREAD_CPUTIME_ID);
  for (const DeadlockCycle& cycle : finder_.look(waits_)) write(cycle);
  waits_.forget_threads();
  ++counts_.looks;
  counts_.cpu = counts_.cpu + (clock_now(CLOCK_THREAD_CPUTIME_ID) - start);
}

recording::ThreadId DeadlockWatch::thread_of(int64_t java_id) {
  const auto known = context_.threads.find(threads_.serial_of(java_id));
  return known ? context_.writer.thread(known->info()) : recording::ThreadId();
}

recording::StackId DeadlockWatch::stack_of(int64_t java_id) {
  std::array<jvmtiFrameInfo, kMaxDepth> frames;
  jint count = 0;
  const jvmtiError error =
      context_.jvm.jvmti()->GetStackTrace(waits_.thread(java_id), 0, kMaxDepth, frames.data(), &count);
  stacks_.start_over();  // deadlocks are rare: nothing is kept from one to the next
  return stacks_.of({std::span(frames).first(static_cast<size_t>(count)), error, count == kMaxDepth});
}

void DeadlockWatch::write(const DeadlockCycle& cycle) {
  ++counts_.found;
  const Nanos now = monotonic_now();
  for (const LockWait& wait : cycle) {
    const JvmWaits::Lock lock = waits_.lock_of(wait);
    const recording::Value values[] = {
        thread_of(wait.thread),
        stack_of(wait.thread),
        lock.class_name.empty() ? recording::ClassId() : context_.writer.klass(lock.class_name),
        static_cast<int64_t>(lock.identity),
        std::string_view(wait.is_monitor ? "monitor" : "synchronizer"),
        thread_of(wait.owner),
        static_cast<int64_t>(counts_.found),
    };
    context_.writer.event(recording::Event::kDeadlock, now, values);
  }
}

}  // namespace tarsier::agent
