#include "agent/engines/safepoint.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>

#include "agent/attached_thread.h"
#include "agent/engines/clock_thread.h"
#include "agent/engines/jvmti_engine.h"
#include "base/clock.h"
#include "linux/procfs.h"

namespace tarsier::agent {
namespace {

constexpr const char* kThreadName = "tarsier-clock";

class SafepointAsker final : public StackAsker {
 public:
  SafepointAsker(EngineContext& context, Nanos interval, JvmtiSamples& samples, const ThreadPattern& wanted)
      : threads_(context.threads),
        jvmti_(context.jvm.jvmti()),
        interval_(interval),
        memory_(context.options.memory / 4),
        most_frames_(context.options.max_depth),
        samples_(samples),
        wanted_(wanted) {
    context.jvm.jni()->GetJavaVM(&vm_);
  }
  ~SafepointAsker() override { stop(); }

  Status start() override {
    const int err = thread_.start(run, this, kThreadName);
    return err == 0 ? Status() : errno_error("starting a thread that samples", err);
  }
  void stop() noexcept override { thread_.stop(); }
  void add_to(EngineStats& stats) const override {
    add_latencies_to(stats);
    stats.counters["rounds"] = rounds_.load();
    stats.counters["runnable for the JVM, but had not run"] = not_run_.load();
  }

  bool thread_started(const JavaThread& thread) override {
    if (!wanted_.matches(thread.name)) return false;
    const std::lock_guard guard(lock_);
    const auto cpu = linux::thread_cpu_time(thread.tid);
    if (cpu) known_[thread.java_id] = {thread.serial, thread.tid, *cpu};
    return cpu.has_value();
  }
  void thread_ended(const JavaThread& thread) override {
    const std::lock_guard guard(lock_);
    known_.erase(thread.java_id);
  }

 private:
  struct Known {
    uint32_t serial = 0;
    pid_t tid = 0;
    Nanos sampled;  // its CPU time at its last sample
  };
  static void* run(void* self);
  void keep_time(JNIEnv* jni);
  // False if a stack may have been cut: then nothing is taken.
  bool round(JNIEnv* jni);
  [[nodiscard]] jint depth_for_round();
  void take(JNIEnv* jni, const jvmtiStackInfo& info, jint depth, Nanos now);

  ThreadRegistry& threads_;
  jvmtiEnv* const jvmti_;
  JavaVM* vm_ = nullptr;
  const Nanos interval_;
  const Bytes memory_;
  const jint most_frames_;
  JvmtiSamples& samples_;
  const ThreadPattern& wanted_;
  jint depth_ = 256;  // the JVM takes memory for so many frames of each thread
  std::atomic<int64_t> rounds_{0}, not_run_{0};
  std::mutex lock_;
  std::unordered_map<int64_t, Known> known_;  // by the thread's id in Java
  ClockThread thread_;                        // the last: it works with all of the above
};

void* SafepointAsker::run(void* self) {
  auto& asker = *static_cast<SafepointAsker*>(self);
  survive([&] {
    const AttachedThread attached(asker.vm_, asker.threads_, kThreadName);
    if (attached.jni() != nullptr) asker.keep_time(attached.jni());
  });
  return nullptr;
}

void SafepointAsker::keep_time(JNIEnv* jni) {
  RandomTicks ticks(interval_);
  while (!thread_.must_stop()) {
    ticks.wait();
    const Nanos start = monotonic_now();
    while (!thread_.must_stop() && !round(jni)) {
    }
    // With thousands of threads a round takes longer than the interval; the application must come to its turn, too.
    const Nanos took = std::min(monotonic_now() - start, millis(999));
    if (took > interval_ / 2) ::usleep(static_cast<useconds_t>(took / micros(1)));
  }
}

// One more than are wanted tells whether there are more. What the JVM takes for a round is ours to bound.
jint SafepointAsker::depth_for_round() {
  const std::lock_guard guard(lock_);
  const auto threads = static_cast<int64_t>(known_.size() + 1);
  const int64_t fit = memory_.count / (threads * static_cast<int64_t>(sizeof(jvmtiFrameInfo)));
  return static_cast<jint>(std::clamp<int64_t>(fit, 16, most_frames_ + 1));
}

bool SafepointAsker::round(JNIEnv* jni) {
  const jint most = depth_for_round(), depth = std::min(depth_, most);
  const Asking asking(*this, 0);
  if (!asking) return true;
  if (jni->PushLocalFrame(64) != 0) {  // the JVM makes more for itself
    jni->ExceptionClear();
    return true;
  }
  jint count = 0;
  JvmtiMemory<jvmtiStackInfo> infos(jvmti_);
  const Nanos start = monotonic_now();
  const jvmtiError error = jvmti_->GetAllStackTraces(depth, infos.out(), &count);
  const Nanos now = monotonic_now();
  bool enough = true;
  if (error == JVMTI_ERROR_NONE) {
    latencies_.add(now - start);
    const jvmtiStackInfo *begin = infos.get(), *end = begin + count;
    enough = depth >= most || std::none_of(begin, end, [&](const auto& info) { return info.frame_count >= depth; });
    if (!enough) depth_ = 2 * depth;
    if (enough) {
      rounds_.fetch_add(1, std::memory_order_relaxed);
      // Whoever is not taken for want of memory has used more the next time.
      survive([&] {
        for (const auto* info = begin; info != end; ++info) take(jni, *info, depth, now);
      });
    }
  }
  jni->PopLocalFrame(nullptr);
  return enough;
}

// Those that the JVM calls runnable, as conventional samplers do. But it takes all native code for running, so that its
// own reference handler would have half of the profile: a sample weighs what the thread has used since its last one,
// and one that has not run is none. Those without a Java frame are the JVM's own affair.
void SafepointAsker::take(JNIEnv* jni, const jvmtiStackInfo& info, jint depth, Nanos now) {
  if ((info.state & JVMTI_THREAD_STATE_RUNNABLE) == 0 || info.frame_count == 0) return;
  const int64_t id = threads_.java_id_of(jni, info.thread);
  capture::SampleHeader header{};
  {
    const std::lock_guard guard(lock_);
    const auto it = known_.find(id);
    if (it == known_.end()) return;  // ours, or not wanted, or about to start or to end
    Known& known = it->second;
    const Nanos cpu = linux::thread_cpu_time(known.tid).value_or(known.sampled);
    if (cpu <= known.sampled) {
      not_run_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    header.thread = known.serial;
    header.weight_ns = static_cast<uint64_t>((cpu - known.sampled).count);
    known.sampled = cpu;
  }
  header.time_ns = static_cast<uint64_t>(now.count);
  const bool truncated = info.frame_count >= depth;
  const auto frames = static_cast<size_t>(std::min(info.frame_count, depth - 1));
  samples_.take(header, {{info.frame_buffer, frames}, JVMTI_ERROR_NONE, truncated});
}

class SafepointEngine final : public JvmtiEngine {
 public:
  explicit SafepointEngine(EngineContext& context) : JvmtiEngine(context) {}

  std::string_view name() const override { return "safepoint"; }
  Result<control::EngineReport> probe() override {
    if (Status status = check_options(); !status) return std::move(status).error();
    return control::EngineReport{std::string(name()),
                                 "GetAllStackTraces",
                                 "asked for; all threads are stopped for each round: a baseline, biased by design",
                                 interval(),
                                 {}};
  }

 private:
  std::unique_ptr<StackAsker> make_asker(JvmtiSamples& samples, const ThreadPattern& wanted) override {
    return std::make_unique<SafepointAsker>(context_, interval(), samples, wanted);
  }
};

}  // namespace

std::unique_ptr<Engine> make_safepoint_engine(EngineContext& context) {
  return std::make_unique<SafepointEngine>(context);
}

}  // namespace tarsier::agent
