// Asks threads for their stacks by handshakes. Some threads of ours do that, each asking one thread at a time, so that
// a late one delays only whoever asked it. One of them is the leader: it waits for the tick and finds out who has run.
// Before it asks the first of those itself it lets another one lead, so that no sample waits for a thread of ours to
// wake up.
#pragma once

#include <condition_variable>
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
#include "agent/engines/waiting_methods.h"

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
    // The three below are the leader's while it is unset, and the requester's while it is set.
    std::atomic<bool> asked{false};
    Nanos sampled;  // its CPU time at its last sample
    Nanos since;    // when it was asked
    Nanos seen;     // its CPU time when the leader last looked
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

  static void* run(void* requester);
  void serve(JNIEnv* jni, Requester& requester);
  // What to ask next; null: end.
  AskedPointer next_request();
  AskedPointer lead(std::unique_lock<std::mutex>& guard);
  std::vector<AskedPointer> choose();
  // Keeps the first for the leader.
  AskedPointer hand_over(const std::vector<AskedPointer>& chosen, Nanos now);
  void ask(JNIEnv* jni, Asked& thread, std::span<jvmtiFrameInfo> frames);
  // Did it run when it answered with that frame? `moved`: its CPU clock has gone on since it was asked.
  [[nodiscard]] bool was_running(jthread thread, pid_t tid, const jvmtiFrameInfo& top, bool moved) const;

  ThreadRegistry& threads_;
  jvmtiEnv* const jvmti_;
  JavaVM* vm_ = nullptr;
  const Nanos interval_;
  const size_t per_tick_;
  const jint most_frames_;
  JvmtiSamples& samples_;
  const ThreadPattern& wanted_;
  const WaitingMethods waiting_;
  std::unordered_map<uint32_t, AskedPointer> known_;  // by serial; under the registry's lock
  CpuRounds<AskedPointer> rounds_;
  HandshakeTurn<AskedPointer> turn_;  // the leader's
  RandomTicks tick_;                  // likewise
  uint64_t random_ = 0;               // under the registry's lock
  std::atomic<int64_t> ticks_{0}, all_busy_{0}, asleep_{0};

  std::mutex lock_;
  std::condition_variable work_;
  std::vector<AskedPointer> requests_;  // has room for as many as there are requesters
  size_t idle_ = 0;                     // requesters that wait for work
  bool has_leader_ = false;
  std::atomic<bool> must_stop_{false};

  std::vector<std::unique_ptr<Requester>> requesters_;  // the last: they work with all of the above
};

}  // namespace tarsier::agent
