// Finds waits in the kernel, by the eBPF programs of linux/wait_parts.h: every wait of at least the threshold, with its
// exact length and the stack that the thread had when it went to sleep.
//
// What the programs have not seen begin they don't know: threads that sleep already when they are made known. These are
// copied from outside, as the watcher does it; when they have run, the kernel's accounts tell how long they had slept.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "agent/engines/sleeper_copy.h"
#include "agent/engines/slots.h"
#include "agent/engines/wait_account.h"
#include "agent/engines/wait_finder.h"
#include "agent/engines/wait_records.h"
#include "base/mapping.h"
#include "linux/bpf_ring.h"
#include "linux/thread_schedule.h"
#include "linux/wait_parts.h"

namespace tarsier::agent {

class KernelWaits final : public WaitFinder {
 public:
  // `virtual_threads` may be null; both must live as long. An error if it is not permitted here.
  static Result<std::unique_ptr<KernelWaits>> make(const WaitLimits& limits, const hotspot::ThreadFields& fields,
                                                   const hotspot::VirtualThreadLayout* virtual_threads,
                                                   const linux::WaitMemory& memory);
  // `parts` were made for this process, by ourselves or by somebody else, who then has what runs the programs.
  static Result<std::unique_ptr<KernelWaits>> over(linux::WaitParts parts, const WaitLimits& limits,
                                                   const hotspot::ThreadFields& fields,
                                                   const hotspot::VirtualThreadLayout* virtual_threads,
                                                   const linux::WaitMemory& memory);
  ~KernelWaits() override { stop(); }

  Status start() override { return {}; }
  void stop() noexcept override;
  size_t consume(const Visit& visit, size_t at_most) override;
  capture::JavaBottoms& bottoms() override { return *reinterpret_cast<capture::JavaBottoms*>(bottoms_.data()); }
  void stack_was_cut(uint32_t thread) override;
  bool close_one() override;
  std::vector<ThreadTimes> changed_times() override;
  void add_to(EngineStats& stats) override;
  Nanos cost_of_stacks() override { return Nanos(static_cast<int64_t>(sum_of_counters().stacks_ns)); }
  void keep_share(double share) override;

  bool thread_started(const JavaThread& thread) override;
  void thread_ended(const JavaThread& thread) override;

 private:
  // A wait that the programs have not seen begin.
  enum class Before : uint8_t { kNone, kAsked, kAsleep, kCopied };
  struct Entry {
    Sleeper sleeper;
    uint32_t slot = 0;  // where the programs keep its account
    Nanos started, cpu_at_start;
    Nanos cpu;  // used since, when that was last asked
    Before before = Before::kNone;
    Nanos queued_at_start;       // of a thread that slept
    WaitAccount::Sums apart;     // of waits that are not in the programs' sums
    Nanos unseen_queue;          // nor is this
    unsigned places = 0;         // bits: the copies that it has room for
    uint64_t told = UINT64_MAX;  // a number that changes with its account
  };
  struct Now {
    linux::bpf::WaitingThread thread;
    Nanos at, cpu, queued;
    bool alive = true;
    bool left_out = false;  // the wait that the programs had not booked yet is one that was left out
  };

  KernelWaits(const WaitLimits& limits, linux::WaitParts parts, linux::BpfRing ring, Mapping bottoms,
              const linux::WaitMemory& memory, const hotspot::ThreadFields& fields,
              const hotspot::VirtualThreadLayout* virtual_threads);
  linux::bpf::Told& told() { return *reinterpret_cast<linux::bpf::Told*>(bottoms_.data()); }
  [[nodiscard]] std::atomic_ref<__u64> awake() { return std::atomic_ref(told().awake); }
  [[nodiscard]] linux::bpf::WaitCounters sum_of_counters() const;
  // By programs that others run, and who may first have to find out who we are.
  [[nodiscard]] Status wait_until_seen();
  [[nodiscard]] Nanos now() const;
  [[nodiscard]] bool read(const Entry& entry, linux::bpf::WaitingThread& out) const;
  [[nodiscard]] bool read(const Entry& entry, Now& out) const;
  void book_late(Now& seen, std::optional<Nanos> delay) const;
  bool read_last(const Entry& entry, Now& out);
  void look_at_sleepers();
  [[nodiscard]] Before look_at(Entry& entry);
  void end_wait_from_before(Entry& entry, const Now& seen, bool ongoing);
  void end_open_wait(Entry& entry, const Now& seen);
  [[nodiscard]] bool write_copy(const Entry& entry, const linux::bpf::WaitingThread& thread, Nanos length);
  [[nodiscard]] bool write_sleeper(Entry& entry, const linux::bpf::WaitingThread& thread, Nanos length);
  bool give_place(Entry& entry, size_t which);
  ThreadTimes times_of(Entry& entry, const Now& seen);
  void add_if_changed(Entry& entry, std::vector<ThreadTimes>& changed);
  [[nodiscard]] bool make_known(const Entry& entry, const linux::bpf::WaitingThread& thread) const;
  void empty(pid_t tid, uint32_t slot);
  void erase(const Entry& entry);
  void consume_waker(size_t size);
  [[nodiscard]] uint64_t epoch() const;

  const WaitLimits limits_;
  const linux::WaitMemory memory_;
  const hotspot::ThreadFields& fields_;
  linux::BpfRing ring_;
  const Mapping bottoms_;
  linux::WaitParts parts_;
  std::mutex stop_lock_;  // of parts_.attached
  std::atomic<int64_t> stopped_at_{0};
  const linux::ThreadSchedules schedules_;
  // What is copied from outside.
  WaitRecords own_;
  SleeperCopy copy_;
  std::vector<uint8_t> record_;
  uint64_t epoch_before_ = 0;  // of class unloading, when the ring was last read to its end

  std::mutex lock_;
  Slots slots_{linux::bpf::kMaxThreads};
  std::unordered_map<uint32_t, Entry> entries_;  // by serial
  std::vector<uint32_t> to_look_at_;             // threads that were there before us
  std::vector<ThreadTimes> ended_;
  const std::vector<uint8_t> nothing_;
  size_t copies_bytes_ = 0;
  uint64_t own_taken_ = 0, own_late_ = 0, own_ring_full_ = 0, own_left_out_ = 0;
  int64_t not_followed_ = 0, without_place_ = 0;
};

}  // namespace tarsier::agent
