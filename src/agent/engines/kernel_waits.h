// Finds waits in the kernel, by the eBPF programs of linux/wait_parts.h: every wait of at least the threshold, with its
// exact length and the stack that the thread has when it comes back.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "agent/engines/sleeper_copy.h"
#include "agent/engines/wait_account.h"
#include "agent/engines/wait_finder.h"
#include "agent/engines/wait_records.h"
#include "linux/bpf_ring.h"
#include "linux/wait_parts.h"

namespace tarsier::agent {

class KernelWaits final : public WaitFinder {
 public:
  // `virtual_threads` may be null; both must live as long. An error if it is not permitted here.
  static Result<std::unique_ptr<KernelWaits>> make(const WaitLimits& limits, const hotspot::ThreadFields& fields,
                                                   const hotspot::VirtualThreadLayout* virtual_threads,
                                                   size_t ring_bytes);
  ~KernelWaits() override { stop(); }

  Status start() override;
  void stop() noexcept override;
  size_t consume(const Visit& visit, size_t at_most) override;
  capture::JavaBottoms& bottoms() override { return own_.bottoms(); }
  bool close_one() override;
  std::vector<ThreadTimes> changed_times() override;
  void add_to(EngineStats& stats) override;

  bool thread_started(const JavaThread& thread) override;
  void thread_ended(const JavaThread& thread) override;

 private:
  struct Entry {
    Sleeper sleeper;
    Nanos started, cpu_at_start;
    Nanos cpu;          // used since, when that was last asked
    uint64_t told = 0;  // a number that changes with its account
  };

  KernelWaits(const WaitLimits& limits, linux::WaitParts parts, linux::BpfRing ring, size_t ring_bytes,
              const hotspot::ThreadFields& fields, const hotspot::VirtualThreadLayout* virtual_threads);
  [[nodiscard]] bool read(pid_t tid, linux::bpf::WaitingThread& out) const;
  void say_that_it_sleeps(const Sleeper& sleeper);
  static ThreadTimes times_of(Entry& entry, const linux::bpf::WaitingThread& thread, Nanos open);
  void erase(pid_t tid, uint64_t task) const;

  const WaitLimits limits_;
  const size_t ring_bytes_;
  linux::BpfRing ring_;
  linux::WaitParts parts_;
  std::mutex attached_lock_;  // of parts_.attached
  // For waits that are not over at the end, of which the kernel writes nothing.
  WaitRecords own_;
  SleeperCopy copy_;

  std::mutex lock_;
  std::unordered_map<pid_t, Entry> entries_;
  std::vector<ThreadTimes> ended_;
  uint64_t own_taken_ = 0, own_missed_ = 0;
  std::atomic<int64_t> not_followed_{0};
};

}  // namespace tarsier::agent
