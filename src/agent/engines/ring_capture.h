// Stack fragments that the kernel copies without a program of ours: samples of perf events with the user's registers
// and a piece of the stack (linux/perf_sample.h). It takes no right but that to perf events of one's own threads.
//
// Each CPU has a ring, and each thread has on each CPU an event that writes there: so memory does not grow with the
// threads, only descriptors do. A thread of ours moves the samples from those rings, which are small (locked memory is
// short), into a large one of our own, as records that the decoder knows.
//
// What the JVM notes about a thread is not in a sample: the decoder finds the first Java frame without.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "agent/engines/clock_thread.h"
#include "agent/engines/fragment_source.h"
#include "agent/engines/seen_epochs.h"
#include "agent/engines/stack_demand.h"
#include "base/mapping.h"
#include "base/sigsafe/mpsc_ring.h"
#include "base/units.h"
#include "hotspot/sigsafe/fragment.h"
#include "linux/perf_ring.h"
#include "linux/perf_sample.h"

namespace tarsier::agent {

class RingCapture final : public FragmentSource {
 public:
  struct Options {
    Nanos interval;
    bool kernel = false;         // sample time in the kernel as well
    size_t ring_bytes = 0;       // of our own ring: a power of two
    size_t perf_ring_bytes = 0;  // of those that the kernel writes, in all; they get less if so much can't be locked
  };
  static Result<std::unique_ptr<RingCapture>> open(const hotspot::ThreadFields& fields, const Options& options);
  ~RingCapture() override;

  Status start() override;
  void silence() noexcept override;
  size_t consume(const Visit& visit, size_t at_most) override;
  [[nodiscard]] size_t used() const override { return ring_.used(); }
  void finish() override;
  capture::JavaBottoms& bottoms() override { return *bottoms_; }
  void add_to(EngineStats& stats) const override;
  [[nodiscard]] std::vector<std::string> warnings() const override;

  bool thread_started(const JavaThread& thread) override;
  void thread_ended(const JavaThread& thread) override;
  [[nodiscard]] bool follows_jvm_threads() const override { return true; }

 private:
  // The clock of a thread on one CPU.
  struct Event {
    linux::PerfSampler sampler;
    uint64_t period_ns = 0;
    int ticks = 0;  // with this period
  };
  struct Thread {
    pid_t tid = 0;
    uint32_t serial = 0;
    uint64_t stack_base = 0, stack_lowest = 0;
    uint64_t random = 0;
    StackDemand demand;
    std::vector<Event> events;  // one for each CPU
  };
  struct Owner {
    std::shared_ptr<Thread> thread;
    size_t cpu = 0;  // index
  };
  struct Closed {
    uint64_t id;
    uint64_t look;  // in which one that was: the next one sees the last of its samples
  };
  struct Counts {
    uint64_t moved = 0;
    uint64_t no_room = 0, no_registers = 0, not_understood = 0, lost = 0;  // these are not
    uint64_t throttled = 0;                                                // times
  };

  RingCapture(const hotspot::ThreadFields& fields, const Options& options, std::vector<int> cpus,
              std::vector<linux::PerfRing> rings);
  static void* run(void* self);
  void see_epoch();
  void look();
  void visit(const perf_event_header& header, std::span<const uint8_t> body);
  // These need the lock.
  void take(const linux::PerfSample& sample);
  bool move(const linux::PerfSample& sample, const Thread& thread, uint64_t weight_ns, uint64_t needed);
  int open_events(const std::shared_ptr<Thread>& thread);
  void close_events(Thread& thread);
  void adapt(const std::shared_ptr<Thread>& thread);
  void draw_period(Thread& thread, Event& event) const;
  void forget_closed();
  [[nodiscard]] uint64_t epoch_now() const;

  const hotspot::ThreadFields fields_;
  const Options options_;
  const std::vector<int> cpus_;
  const int highest_fd_;
  const size_t most_events_;
  const bool count_lost_;
  std::vector<linux::PerfRing> rings_;  // the mover's
  Mapping memory_;
  MpscRing ring_;
  std::unique_ptr<capture::JavaBottoms> bottoms_ = std::make_unique<capture::JavaBottoms>();
  ClockThread mover_;

  mutable std::mutex lock_;  // of all that follows; held for one sample, or for the affairs of one thread
  bool silent_ = false;
  uint64_t looks_ = 0;
  size_t open_events_ = 0;
  std::unordered_map<pid_t, std::shared_ptr<Thread>> threads_;
  std::unordered_map<uint64_t, Owner> owners_;  // by the events' ids
  std::vector<Closed> closed_;
  StackDemand usual_;  // of the threads that there were lately
  SeenEpochs epochs_;
  uint64_t last_epoch_ = 0;
  Counts counts_;
  uint64_t lost_of_closed_ = 0;
  int64_t not_followed_ = 0;
  int last_error_ = 0;
};

}  // namespace tarsier::agent
