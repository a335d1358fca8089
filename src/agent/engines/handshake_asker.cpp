#include "agent/engines/handshake_asker.h"

#include <sys/prctl.h>

#include <algorithm>
#include <new>

#include "agent/attached_thread.h"
#include "base/clock.h"
#include "base/sigsafe/random_period.h"
#include "linux/procfs.h"

namespace tarsier::agent {
namespace {

constexpr const char* kRequesterName = "tarsier-ask";
// Some more than are asked at a tick, for those that ask a late thread.
constexpr size_t kFewestRequesters = 4, kMostRequesters = 32;
// The JVM naps for 10 us at a time until a thread has answered, and the kernel may make each nap longer by that, 50 us
// unless told otherwise. With less the answer is often not there after the first nap, and we keep a CPU from those whom
// we ask.
constexpr unsigned long kTimerSlackNs = 35'000;

}  // namespace

HandshakeAsker::HandshakeAsker(EngineContext& context, Nanos interval, size_t per_tick, JvmtiSamples& samples,
                               const ThreadPattern& wanted)
    : threads_(context.threads),
      jvmti_(context.jvm.jvmti()),
      interval_(interval),
      per_tick_(per_tick),
      most_frames_(context.options.max_depth),
      samples_(samples),
      wanted_(wanted),
      waiting_(context.jvm.jni()),
      tick_(interval),
      random_(static_cast<uint64_t>(monotonic_now().count) | 1) {
  context.jvm.jni()->GetJavaVM(&vm_);
}

Status HandshakeAsker::start() {
  const size_t count = std::clamp(2 * per_tick_, kFewestRequesters, kMostRequesters);
  requests_.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    auto requester = std::make_unique<Requester>();
    requester->asker = this;
    requester->number = i;
    requester->frames.resize(static_cast<size_t>(most_frames_) + 1);  // one more tells whether there are more
    if (const int err = requester->thread.start(run, requester.get(), kRequesterName)) {
      stop();
      return errno_error("starting a thread that asks for stacks", err);
    }
    requesters_.push_back(std::move(requester));
  }
  return {};
}

void HandshakeAsker::stop() noexcept {
  {
    const std::lock_guard guard(lock_);
    must_stop_.store(true);
  }
  work_.notify_all();
  for (auto& requester : requesters_) requester->thread.stop();
}

void HandshakeAsker::add_to(EngineStats& stats) const {
  add_latencies_to(stats);
  stats.memory += Bytes(static_cast<int64_t>(requesters_.size() * sizeof(jvmtiFrameInfo)) * (most_frames_ + 1));
  stats.counters["requesters"] = static_cast<int64_t>(requesters_.size());
  stats.counters["asleep when they answered"] = asleep_.load(std::memory_order_relaxed);
  stats.counters["ticks"] = ticks_.load(std::memory_order_relaxed);
  stats.counters["ticks with all requesters busy"] = all_busy_.load(std::memory_order_relaxed);
}

bool HandshakeAsker::thread_started(const JavaThread& thread) {
  const auto cpu = wanted_.matches(thread.name) ? linux::thread_cpu_time(thread.tid) : std::nullopt;
  if (!cpu) return false;
  auto asked = std::make_shared<Asked>();
  asked->serial = thread.serial;
  asked->tid = thread.tid;
  asked->ref = thread.ref;
  // As if it had used a random part of its first share already: short lives are then seen as often as they deserve.
  asked->sampled = *cpu - Nanos(static_cast<int64_t>(draw_phase(static_cast<uint64_t>(interval_.count / 2), random_)));
  known_[thread.serial] = asked;
  rounds_.add(thread.tid, *cpu, std::move(asked));
  return true;
}

void HandshakeAsker::thread_ended(const JavaThread& thread) {
  const auto it = known_.find(thread.serial);
  if (it == known_.end()) return;
  const AskedPointer asked = std::move(it->second);
  known_.erase(it);
  rounds_.remove_if([&](const AskedPointer& other) { return other == asked; });
  const std::lock_guard guard(asked->lock);
  asked->ref = nullptr;
}

void* HandshakeAsker::run(void* self) {
  auto& requester = *static_cast<Requester*>(self);
  HandshakeAsker& asker = *requester.asker;
  ::prctl(PR_SET_TIMERSLACK, kTimerSlackNs, 0, 0, 0);
  survive([&] {
    const AttachedThread attached(asker.vm_, asker.threads_, kRequesterName);
    if (attached.jni() != nullptr) asker.serve(attached.jni(), requester);
  });
  return nullptr;
}

void HandshakeAsker::serve(JNIEnv* jni, Requester& requester) {
  while (const AskedPointer thread = next_request()) {
    if (const Asking asking(*this, requester.number); asking) {
      survive([&] { ask(jni, *thread, requester.frames); });
    }
    // Pairs with the acquire in choose().
    thread->asked.store(false, std::memory_order_release);
  }
}

HandshakeAsker::AskedPointer HandshakeAsker::next_request() {
  std::unique_lock guard(lock_);
  ++idle_;
  work_.wait(guard, [this] { return must_stop_.load() || !requests_.empty() || !has_leader_; });
  --idle_;
  if (must_stop_.load()) return nullptr;
  if (requests_.empty()) return lead(guard);
  AskedPointer thread = std::move(requests_.back());
  requests_.pop_back();
  return thread;
}

// Until there is somebody to ask.
HandshakeAsker::AskedPointer HandshakeAsker::lead(std::unique_lock<std::mutex>& guard) {
  has_leader_ = true;
  AskedPointer own;
  while (own == nullptr && !must_stop_.load()) {
    guard.unlock();
    const Nanos now = tick_.wait();
    std::vector<AskedPointer> chosen;
    survive([&] { chosen = choose(); });  // who was not asked for want of memory is asked another time
    guard.lock();
    if (!chosen.empty()) own = hand_over(chosen, now);
  }
  has_leader_ = false;
  if (idle_ > 0) work_.notify_one();  // else whoever is done first leads
  return own;
}

std::vector<HandshakeAsker::AskedPointer> HandshakeAsker::choose() {
  turn_.begin();
  rounds_.round([this](const AskedPointer& thread, pid_t, Nanos cpu, bool ran) {
    // Pairs with the release in serve(): what the last request left is ours to read.
    if (thread->asked.load(std::memory_order_acquire)) return true;
    const Nanos used = cpu - thread->sampled;
    // Half an interval, since ticks come at random between half and one and a half.
    if (ran && used >= interval_ / 2) {
      thread->seen = cpu;
      turn_.add(thread, used);
    }
    return ran;
  });
  ticks_.fetch_add(1, std::memory_order_relaxed);
  return turn_.choose(
      per_tick_, [](const AskedPointer& thread) { return linux::thread_cpu_time(thread->tid) != thread->seen; },
      [](const AskedPointer& thread) { return linux::thread_state(thread->tid) == 'R'; });
}

// No more than can be asked at once: a request that had to wait would be answered with a stack of much later. Whoever
// is not asked now has used more the next time, and comes first.
HandshakeAsker::AskedPointer HandshakeAsker::hand_over(const std::vector<AskedPointer>& chosen, Nanos now) {
  size_t free = std::max<size_t>(idle_, 1);  // one of the others leads
  for (const AskedPointer& thread : chosen) {
    if (thread->asked.load(std::memory_order_relaxed)) continue;  // a round may look at somebody twice
    if (free == 0) {
      all_busy_.fetch_add(1, std::memory_order_relaxed);
      break;
    }
    --free;
    thread->since = now;
    thread->asked.store(true, std::memory_order_relaxed);  // the lock orders it
    if (thread == chosen.front()) continue;
    requests_.push_back(thread);
    work_.notify_one();
  }
  return chosen.front();
}

void HandshakeAsker::ask(JNIEnv* jni, Asked& thread, std::span<jvmtiFrameInfo> frames) {
  jobject ref = nullptr;
  {
    // A reference of our own: the thread deletes the registry's when it ends.
    const std::lock_guard guard(thread.lock);
    if (thread.ref != nullptr) ref = jni->NewLocalRef(thread.ref);
  }
  const Nanos before = linux::thread_cpu_time(thread.tid).value_or(thread.sampled);
  jint count = 0;
  const jvmtiError error = ref == nullptr
                               ? JVMTI_ERROR_THREAD_NOT_ALIVE
                               : jvmti_->GetStackTrace(ref, 0, static_cast<jint>(frames.size()), frames.data(), &count);
  const Nanos now = monotonic_now();
  latencies_.add(now - thread.since);
  // What it used until it answered is part of it.
  const Nanos cpu = linux::thread_cpu_time(thread.tid).value_or(thread.sampled);
  const bool asleep = count > 0 && !was_running(ref, thread.tid, frames.front(), cpu != before);
  if (ref != nullptr) jni->DeleteLocalRef(ref);
  if (asleep) {
    asleep_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  capture::SampleHeader header{};
  header.time_ns = static_cast<uint64_t>(now.count);
  header.weight_ns = static_cast<uint64_t>(std::max(cpu - thread.sampled, Nanos(0)).count);
  header.thread = thread.serial;
  thread.sampled = cpu;
  const jint wanted = std::min(count, most_frames_);
  samples_.take(header,
                {frames.first(error == JVMTI_ERROR_NONE ? static_cast<size_t>(wanted) : 0), error, count > wanted});
}

// A thread that has fallen asleep since the tick shows where it waits, not where it ran: in a program whose threads run
// for some microseconds at a time that were five samples of six. Its time is that of a later sample.
bool HandshakeAsker::was_running(jthread thread, pid_t tid, const jvmtiFrameInfo& top, bool moved) const {
  if (waiting_.has(top.method)) return false;
  if (moved) return true;
  if (top.location < 0) return linux::thread_state(tid) == 'R';  // other native code may wait as well
  jint state = 0;                                                // in Java code it waits only for a monitor
  if (jvmti_->GetThreadState(thread, &state) != JVMTI_ERROR_NONE) return true;
  return (state & JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER) == 0;
}

}  // namespace tarsier::agent
