// Lock contention, the part that runs in application threads: who blocks and who releases, with the number of the call
// chain, into the thread's own buffer. No signal handler: the threads have called the JVM, and the JVM us.
//
// The hooks run where a thread must not wait for another, and must not ask the JVM for anything: on the way out of a
// monitor it may be in the midst of Java code.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>

#include "agent/engines/hold_table.h"
#include "agent/engines/lock_records.h"
#include "agent/engines/lock_threads.h"
#include "agent/engines/still_objects.h"
#include "agent/thread_registry.h"
#include "base/mapping.h"
#include "base/sigsafe/event_blocks.h"
#include "base/sigsafe/mpsc_ring.h"
#include "base/sigsafe/number_set.h"
#include "capture/monitor_table.h"
#include "capture/named_virtuals.h"
#include "capture/sleep_table.h"
#include "hotspot/light_walk.h"
#include "hotspot/sigsafe/fragment.h"
#include "hotspot/sigsafe/virtual_thread.h"
#include "hotspot/stack_walker.h"

namespace tarsier::agent {

// Where the JVM keeps the rest of what is read of it.
struct LockLayout {
  uint64_t owner = 0;                  // of an ObjectMonitor
  bool owner_is_id = false;            // what it has there is the id of a thread, else an address
  uint64_t recursions = 0;             // of an ObjectMonitor: how often it was entered again
  uint64_t unlocked_monitor = 0;       // of a JavaThread: the monitor that compiled code has just released; 0: not kept
  jfieldID park_blocker = nullptr;     // Thread.parkBlocker
  jfieldID interrupted = nullptr;      // Thread.interrupted; null: not there before 14
  jfieldID exclusive_owner = nullptr;  // AbstractOwnableSynchronizer.exclusiveOwnerThread
  jclass ownable = nullptr;            // that class, a global reference
  jfieldID condition_of = nullptr;     // the lock of an AbstractQueuedSynchronizer.ConditionObject
  jclass condition = nullptr;          // that class, a global reference
  StillObjects objects;
};

class LockCapture final : public ThreadListener {
 public:
  struct Sizes {
    size_t blocks, chains, names;  // bytes
  };
  LockCapture(ThreadRegistry& threads, const hotspot::ThreadFields& fields,
              const hotspot::VirtualThreadLayout* virtual_threads, const LockLayout& layout, hotspot::LightWalk& walk);
  ~LockCapture() override;
  [[nodiscard]] Status take_memory(const Sizes& sizes);

  bool thread_started(const JavaThread& thread) override;
  void thread_ended(const JavaThread& thread) override;

  // JVMTI's events, in the thread concerned.
  void blocked(jvmtiEnv* jvmti, JNIEnv* jni, jobject object) noexcept;
  void entered(jvmtiEnv* jvmti, JNIEnv* jni, jobject object) noexcept;
  // Before Object.wait does anything.
  void waits(jvmtiEnv* jvmti, JNIEnv* jni, jobject object) noexcept;

  // Object.wait: a thread goes to wait, comes back from it, notifies one of them, and, if it was notified, wants the
  // monitor back and has it.
  void waiting(uint64_t monitor) noexcept;
  void waited(int64_t timeout_ms) noexcept;
  void notifying(uint64_t monitor) noexcept;
  void reentering(uint64_t monitor) noexcept;
  void reentered() noexcept;

  // A lock record of which only the code that passes it tells, if it was compiled code that released.
  static constexpr uint64_t kRecordInCode = hotspot::StackWalker::kReleasedByCode;
  // Where a hook was called from: what the caller's registers were.
  struct Caller {
    uint64_t pc, sp, fp;
    // Of a release by compiled code, or kRecordInCode.
    uint64_t lock_record = 0;
  };
  // What a hook has seen before it calls the original is told afterwards, maybe much later, to whoever records then:
  // what is of another session means nothing there.

  // A monitor is about to be released by its owner. `generation` is 0 if nobody is blocked by it.
  struct Release {
    uint64_t session = 0;
    capture::ContendedMonitor* monitor = nullptr;
    uint64_t address = 0, generation = 0, time_ns = 0;
    uint32_t sequence = 0;
    uint32_t lock = 0;  // number of the object's name, of that generation: afterwards another may have begun
  };
  [[nodiscard]] Release releasing(uint64_t monitor) noexcept;
  // The same of a monitor that is released already: what happens to it from now on has no order.
  [[nodiscard]] Release unlocked(uint64_t monitor) noexcept;
  void released(const Release& release, LockAct act, const Caller& caller) noexcept;
  // Compiled code has just released this one; 0: none.
  [[nodiscard]] uint64_t just_unlocked(uint64_t java_thread) const noexcept;

  // A thread goes to sleep on a condition variable, has slept, or signals one: then it has just released the monitor
  // that the other one is blocked by, if he is.
  void sleeps(uint64_t variable) noexcept;
  void slept(uint64_t variable) noexcept;
  [[nodiscard]] Release signalling(uint64_t variable) noexcept;

  // Unsafe.park and unpark, in native code.
  struct Park {
    uint64_t session = 0;   // 0: it is not recorded
    uint64_t until_ns = 0;  // when its time is up; 0: never
    uint32_t lock = 0;      // number of the blocker's name
  };
  [[nodiscard]] Park park(jvmtiEnv* jvmti, JNIEnv* jni, bool is_deadline, int64_t time, const Caller& caller) noexcept;
  void parked(JNIEnv* jni, const Park& park) noexcept;
  // To be called before the target can go on, and after.
  struct Unpark {
    uint64_t session = 0;  // 0: it is not recorded
    uint64_t time_ns = 0;
    int64_t target = 0;
  };
  [[nodiscard]] Unpark unparking(JNIEnv* jni, jobject target) noexcept;
  void unparked(const Unpark& unpark, const Caller* caller) noexcept;

  // The same of virtual threads, which leave their carriers instead, as java.lang.VirtualThread tells once it was
  // changed; in native code. Who sleeps or waits for I/O parks on nothing, and is passed over.
  void virtual_parking(jvmtiEnv* jvmti, JNIEnv* jni, int64_t timeout_ns, jobject thread) noexcept;
  void virtual_parked(JNIEnv* jni, jobject thread) noexcept;
  void virtual_unparking(JNIEnv* jni, jobject thread) noexcept;
  // From now on Unsafe.park says nothing new of them.
  void expect_virtual_parks() { virtual_parks_told_.store(true, std::memory_order_relaxed); }

  // With --lock-detail: a lock that was waited for in this session was acquired, or is about to be released.
  // `identity`: the hash of what threads park on. In native code.
  void acquired(int32_t identity, HoldMode mode, int32_t times) noexcept;
  void releasing(int32_t identity, HoldMode mode, int32_t times) noexcept;
  // Before any thread is recorded: these will be called.
  void expect_holds() { sees_holds_ = true; }
  // Session thread, once nobody calls these any more: holds that go on, and for which somebody waited.
  void add_open_holds(const std::function<void(const LockRecord&)>& add);

  EventBlocks& blocks() { return *blocks_; }
  MpscRing& chains() { return *chains_; }
  MpscRing& names() { return *names_; }
  void add_counters_to(LockCounters& sum);
  // Session thread: chains are numbered anew from now on.
  void forget_chains() {
    known_chains_->clear();
    // Whoever sees this finds none of the old ones.
    chain_generation_.fetch_add(1, std::memory_order_release);
  }
  // The same of names, if many were given since the last time.
  void forget_names_if_many();
  LockThreads& known_threads() { return known_threads_; }
  capture::NamedVirtuals& named_virtuals() { return named_virtuals_; }
  [[nodiscard]] size_t memory_used() const;

 private:
  struct Local;
  class Stopwatch;
  static Local& local() noexcept;
  Local* enter() noexcept;            // null: the thread is not known
  Local* enter_for_event() noexcept;  // the same, and counts it
  [[nodiscard]] int64_t virtual_id_of(const uint8_t* java_thread) const noexcept;
  void write(Local& local, LockRecord& record) noexcept;
  void write_wait(Local& local, int64_t timeout_ms) noexcept;
  [[nodiscard]] bool is_interrupted(JNIEnv* jni, jobject thread) const noexcept;
  [[nodiscard]] bool was_waited_for(uint32_t number, uint64_t since_ns) const noexcept;
  // Its owner, who was blocked by it.
  void write_entered(Local& local, LockRecord& record, capture::ContendedMonitor* monitor) noexcept;
  uint32_t chain_of(Local& local, const Caller* caller) noexcept;
  struct KnownChain {
    hotspot::LightWalk::Chain chain;
    uint32_t number;  // 0: it is new
  };
  KnownChain walk(Local& local, const hotspot::LightWalk::Place& place) noexcept;
  void try_trail(LockCounters& counters, const hotspot::LightWalk::Trail& trail,
                 const hotspot::LightWalk::Place& place) noexcept;
  uint32_t copy_chain(Local& local, hotspot::Fragment& fragment, const hotspot::LightWalk::Chain& chain,
                      uint64_t lock_record) noexcept;
  uint32_t name_of(jvmtiEnv* jvmti, JNIEnv* jni, jobject object) noexcept;
  uint32_t give_name(jvmtiEnv* jvmti, jclass klass, jint identity, uint64_t key) noexcept;
  // Of what a thread parks on: its owner, or the lock whose condition it is.
  void describe_blocker(jvmtiEnv* jvmti, JNIEnv* jni, jobject blocker, LockRecord& record) noexcept;
  // Is that known of a blocker of this name?
  bool has_no_owner(LockRecord& record) const noexcept;
  // Of what the thread itself is about to park on, unless it is a virtual one.
  void look_at_blocker(jvmtiEnv* jvmti, JNIEnv* jni, Local& mine, LockRecord& record) noexcept;

  ThreadRegistry& threads_;
  const hotspot::ThreadFields fields_;
  const hotspot::VirtualThreadLayout* const virtual_threads_;
  const LockLayout layout_;
  hotspot::LightWalk& walk_;
  const uint64_t session_;
  const pid_t self_;
  capture::NamedVirtuals named_virtuals_;

  Mapping block_memory_, chain_memory_, name_memory_, chain_set_memory_, name_set_memory_, monitor_memory_,
      named_memory_, sleep_memory_, hold_memory_;
  std::optional<EventBlocks> blocks_;
  std::optional<MpscRing> chains_, names_;
  std::optional<NumberSet> known_chains_, known_names_;
  std::optional<capture::MonitorTable> monitors_;
  std::optional<capture::SleepTable> sleeps_;
  // What is known of an object by its name. Of the last names that were given: others have taken the place of older
  // ones.
  struct Named {
    std::atomic<uint32_t> number;             // of the name
    std::atomic<uint32_t> lock_of_condition;  // it is one: number of the lock's name
    std::atomic<capture::ContendedMonitor*> monitor;
    std::atomic<uint64_t> waited_until_ns;  // when the last one that was parked on it went on
    std::atomic<uint32_t> waiting;          // threads that are parked on it
    std::atomic<bool> is_plain;             // threads park on it, and it keeps no owner and is no condition
  };
  [[nodiscard]] Named* named(uint32_t number) const noexcept;  // null: it is too old, or 0
  Named* named_ = nullptr;
  std::optional<HoldTable> holds_;
  bool sees_holds_ = false;
  std::atomic<bool> virtual_parks_told_{false};
  std::atomic<uint32_t> last_chain_{0}, last_name_{0};
  std::atomic<uint32_t> chain_generation_{1};  // of the numbers of chains
  std::atomic<uint32_t> forgotten_names_{0};   // up to this number
  LockThreads known_threads_;
  LockCounters counters_;
};

}  // namespace tarsier::agent
