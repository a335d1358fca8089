// The eBPF programs on ourselves, without a JVM: a few words stand in for a JavaThread, the waits are real.
#pragma once

#include "agent/engines/kernel_waits.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/bpf.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "capture/frozen_frames.h"
#include "capture/virtual_thread_for_test.h"
#include "linux/cpus.h"
#include "linux/kernel_symbols.h"
#include "linux/procfs.h"

namespace tarsier::agent::kernel_waits_for_test {

using capture::FragmentRecord;
using recording::TimePart;

constexpr uint64_t kWitness = 0x1234567890abcdef;

struct Wait {
  capture::SampleHeader header;
  hotspot::Fragment fragment;
  std::vector<uint64_t> stack;
  std::vector<uint8_t> frozen;  // and the name

  [[nodiscard]] bool has_witness() const { return std::find(stack.begin(), stack.end(), kWitness) != stack.end(); }
};

// A thread that reads from a pipe until it is let go.
class PipeReader {
 public:
  PipeReader() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    in_.reset(ends[0]);
    out_.reset(ends[1]);
    thread_ = std::thread([this] {
      tid_.store(::gettid());
      char byte = 0;
      for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(::read(in_.get(), &byte, 1), 1);
        ++reads_;
      }
    });
    wait_until_asleep();
  }
  ~PipeReader() {
    while (wakes_ < 2) wake();
    thread_.join();
  }
  void wake() {
    EXPECT_EQ(::write(out_.get(), "x", 1), 1);
    ++wakes_;
  }
  void was_woken() { ++wakes_; }  // by a child
  // Who has just been woken is still asleep until it has a CPU.
  void wait_until_asleep() const {
    while (tid_.load() == 0 || reads_.load() < wakes_ || linux::thread_state(tid_.load()) != 'S')
      std::this_thread::yield();
  }
  [[nodiscard]] pid_t tid() const { return tid_.load(); }

 private:
  unique_fd in_, out_;
  std::atomic<pid_t> tid_{0};
  std::atomic<int> reads_{0};
  int wakes_ = 0;
  std::thread thread_;
};

class KernelWaitsTest : public testing::Test {
 protected:
  void load(const WaitLimits& limits = {micros(100), Nanos(0)}, const linux::WaitMemory& memory = {1 << 20, 1 << 20},
            const hotspot::VirtualThreadLayout* virtual_threads = nullptr) {
    fields_ = {8, 16, 24, 32, 40, 48, nullptr, nullptr};
    fields_.unloaded = &unloaded_;
    fields_.unloaded_shared = &unloaded_shared_;
    auto waits = KernelWaits::make(limits, fields_, virtual_threads, memory);
    if (!waits) GTEST_SKIP() << waits.error().what;
    waits_ = std::move(*waits);
    java_thread_[1] = reinterpret_cast<uint64_t>(room_ + kAnchor);
    java_thread_[6] = reinterpret_cast<uint64_t>(room_ + kWords);
    std::fill_n(room_, kWords, 1);  // a page that has never been written to does not exist yet
    room_[kAnchor + 50] = kWitness;
  }
  JavaThread described(pid_t tid, uint32_t serial = 42) {
    JavaThread thread;
    thread.serial = serial;
    thread.tid = tid;
    thread.java_thread = reinterpret_cast<const uint8_t*>(java_thread_);
    return thread;
  }
  std::vector<Wait> read() {
    std::vector<Wait> all;
    waits_->consume(
        [&](const FragmentRecord& record) {
          Wait wait{record, {}, {}, {}};
          if (!record.repeated) {
            const hotspot::Fragment& fragment = record.fragment();
            wait.fragment = fragment;
            wait.stack.resize(fragment.stack_bytes / 8);
            if (!wait.stack.empty()) std::memcpy(wait.stack.data(), fragment.stack(), fragment.stack_bytes);
            wait.frozen.assign(fragment.frozen(), fragment.frozen() + fragment.frozen_bytes + fragment.padded_name());
          }
          all.push_back(std::move(wait));
        },
        SIZE_MAX);
    return all;
  }
  std::vector<Wait> of_thread(uint32_t serial) {
    std::vector<Wait> all = read();
    std::erase_if(all, [&](const Wait& wait) { return wait.header.thread != serial; });
    return all;
  }
  ThreadTimes times() {
    const auto all = waits_->changed_times();
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? ThreadTimes{} : all.front();
  }
  static Nanos sum_of(const ThreadTimes& times) {
    Nanos sum;
    for (const WaitAccount::Sum& part : times.parts) sum += part.time;
    return sum;
  }
  EngineStats stats() {
    EngineStats stats;
    waits_->add_to(stats);
    return stats;
  }
  static void sleep_for(Nanos time) { std::this_thread::sleep_for(std::chrono::nanoseconds(time.count)); }
  // A sleep is no wait if a busy machine takes the CPU away until it is over before it began: as often as it takes.
  template <class Seen>
  static void sleep_until(Seen&& seen) {
    const Nanos end = monotonic_now() + seconds(20);
    while (!seen() && monotonic_now() < end) sleep_for(millis(2));
  }
  std::vector<Wait> sleep_until_read(size_t count) {
    std::vector<Wait> all;
    sleep_until([&] {
      const auto more = read();
      all.insert(all.end(), more.begin(), more.end());
      return all.size() >= count;
    });
    return all;
  }

  static constexpr size_t kWords = 8192, kAnchor = 7700;
  uint64_t unloaded_ = 5;
  const uint64_t unloaded_shared_ = 6;
  hotspot::ThreadFields fields_;
  uint64_t java_thread_[9] = {0, 0, 0x222, 0x333, 4, 0, 0, 0, 0};
  uint64_t room_[kWords] = {};  // as if it were the thread's stack
  std::unique_ptr<KernelWaits> waits_;
};

}  // namespace tarsier::agent::kernel_waits_for_test
