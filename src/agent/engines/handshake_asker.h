// Asks threads for their stacks by handshakes: one thread of ours finds out who has run, and some others ask, each one
// thread at a time, so that a late one delays only whoever asked it.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "agent/engines/clock_thread.h"
#include "agent/engines/cpu_rounds.h"
#include "agent/engines/handshake_turn.h"
#include "agent/engines/jvmti_samples.h"
#include "agent/engines/stack_asker.h"
#include "agent/engines/thread_pattern.h"

namespace tarsier::agent {

class HandshakeAsker final : public StackAsker {
 public:
  // At most `per_tick` threads are asked at a tick.
  HandshakeAsker(EngineContext& context, Nanos interval, size_t per_tick, JvmtiSamples& samples,
                 const ThreadPattern& wanted);
  ~HandshakeAsker() override { stop(); }

  Status start() override;
  void stop() noexcept override;
  void add_to(EngineStats& stats) const override;

  bool thread_started(const JavaThread& thread) override;
  void thread_ended(const JavaThread& thread) override;

 private:
  // A thread of the application's.
  struct Asked {
    uint32_t serial = 0;
    pid_t tid = 0;
    // The three below are the clock thread's while it is unset, and the requester's while it is set.
    std::atomic<bool> asked{false};
    Nanos sampled;  // its CPU time at its last sample
    Nanos since;    // when it was asked
    Nanos seen;     // its CPU time when the clock thread last looked
    std::mutex lock;
    jobject ref = nullptr;  // the registry's; null once it has ended
  };
  using AskedPointer = std::shared_ptr<Asked>;
  struct Requester {
    HandshakeAsker* asker = nullptr;
    uint32_t number = 0;
    std::vector<jvmtiFrameInfo> frames;
    ClockThread thread;
  };

  static void* run_clock(void* self);
  static void* run_requester(void* self);
  void keep_time();
  void tick(Nanos now);
  // A system call of 0.3 us, and only if that does not tell the dearer question.
  static bool runs(const Asked& thread);
  void hand_over(std::vector<AskedPointer> chosen, Nanos now);
  void serve(JNIEnv* jni, Requester& requester);
  AskedPointer next_request();
  void ask(JNIEnv* jni, Asked& thread, std::span<jvmtiFrameInfo> frames);

  ThreadRegistry& threads_;
  jvmtiEnv* const jvmti_;
  JavaVM* vm_ = nullptr;
  const Nanos interval_;
  const size_t per_tick_;
  const jint most_frames_;
  JvmtiSamples& samples_;
  const ThreadPattern& wanted_;
  std::unordered_map<uint32_t, AskedPointer> known_;  // by serial; under the registry's lock
  CpuRounds<AskedPointer> rounds_;
  HandshakeTurn<AskedPointer> turn_;  // the clock thread's
  uint64_t random_ = 0;               // under the registry's lock
  std::atomic<int64_t> ticks_{0}, all_busy_{0};

  std::mutex lock_;
  std::condition_variable wanted_by_tick_;
  std::deque<AskedPointer> requests_;
  size_t idle_requesters_ = 0;
  bool must_stop_ = false;

  // The last: they work with all of the above.
  std::vector<std::unique_ptr<Requester>> requesters_;
  ClockThread clock_;
};

}  // namespace tarsier::agent
