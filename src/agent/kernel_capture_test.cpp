// The eBPF program on ourselves, without a JVM: a few words stand in for a JavaThread, the ticks are real.
#include "agent/engines/kernel_capture.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "capture/frozen_frames.h"
#include "capture/virtual_thread_for_test.h"
#include "linux/mappings.h"

namespace tarsier::agent {
namespace {

using capture::FragmentRecord;

constexpr uint64_t kWitness = 0x1234567890abcdef;

struct Sample {
  uint64_t time_ns, weight_ns;
  uint32_t thread;
  std::vector<uint64_t> kernel;
  hotspot::Fragment fragment;
  std::vector<uint64_t> stack;
  std::vector<uint8_t> frozen;  // and the name
};

// By the bare system call: TSan walks over all that `read` has filled, and its time would drown the kernel's.
bool fill_in_kernel(int zero, std::vector<char>& bytes) {
  return ::syscall(SYS_read, zero, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
}

class KernelCaptureTest : public testing::Test {
 protected:
  void load(size_t ring_bytes = 1 << 24, bool old_kernel = false,
            const hotspot::VirtualThreadLayout* virtual_threads = nullptr) {
    hotspot::ThreadFields fields{8, 16, 24, 32, 40, 48, nullptr, nullptr};
    fields.unloaded = &unloaded_;
    fields.unloaded_shared = &unloaded_shared_;
    linux::bpf::Settings settings{};
    settings.java = KernelCapture::layout_of(fields, virtual_threads);
    ASSERT_TRUE(linux::aim_at(settings, "/proc/self"));
    auto parts = linux::make_kernel_parts(settings, {ring_bytes, old_kernel});
    if (!parts) GTEST_SKIP() << parts.error().what;
    auto capture = KernelCapture::over(std::move(*parts), millis(1), ring_bytes);
    ASSERT_TRUE(capture) << capture.error().what;
    capture_ = std::move(*capture);
  }
  JavaThread self(uint64_t* java_thread) {
    JavaThread thread;
    thread.serial = 42;
    thread.tid = ::gettid();
    thread.java_thread = reinterpret_cast<const uint8_t*>(java_thread);
    return thread;
  }
  std::vector<Sample> read() {
    std::vector<Sample> samples;
    capture_->consume(
        [&](const FragmentRecord& record) {
          Sample sample{record.time_ns, record.weight_ns, record.thread, {}, record.fragment(), {}, {}};
          sample.kernel.assign(record.kernel().begin(), record.kernel().end());
          sample.stack.resize(sample.fragment.stack_bytes / 8);
          if (!sample.stack.empty()) {
            std::memcpy(sample.stack.data(), record.fragment().stack(), sample.fragment.stack_bytes);
          }
          const hotspot::Fragment& fragment = record.fragment();
          sample.frozen.assign(fragment.frozen(), fragment.frozen() + fragment.frozen_bytes + fragment.padded_name());
          samples.push_back(std::move(sample));
        },
        SIZE_MAX);
    return samples;
  }
  // A page that has never been written to does not exist yet, and the program can't wait until it does.
  template <class T, size_t kSize>
  static void touch(volatile T (&room)[kSize]) {
    for (volatile T& one : room) one = 1;
  }
  // Until the thread has used that much CPU time.
  template <class Work>
  static void burn(Nanos time, Work&& work) {
    const Nanos end = clock_now(CLOCK_THREAD_CPUTIME_ID) + time;
    while (clock_now(CLOCK_THREAD_CPUTIME_ID) < end) work();
  }

  const uint64_t unloaded_ = 5, unloaded_shared_ = 6;
  uint64_t java_thread_[8] = {0, 0x111, 0x222, 0x333, 8, 0x444, 0, 0};
  std::unique_ptr<KernelCapture> capture_;
};

TEST_F(KernelCaptureTest, copies_registers_anchor_and_the_stack_up_to_its_base) {
  load();
  if (IsSkipped()) return;
  volatile uint64_t room[512];
  touch(room);
  room[300] = kWitness;
  java_thread_[6] = reinterpret_cast<uint64_t>(room + 512);
  const JavaThread thread = self(java_thread_);
  ASSERT_TRUE(capture_->thread_started(thread));
  const Nanos before = clock_now(CLOCK_MONOTONIC);
  ASSERT_TRUE(capture_->start());
  burn(millis(300), [&] {
    for (int i = 0; i < 10'000; ++i) room[0] = room[0] + 1;
  });
  capture_->silence();
  capture_->thread_ended(thread);
  const Nanos after = clock_now(CLOCK_MONOTONIC);

  const auto samples = read();
  const linux::bpf::Counters counters = capture_->counters();
  EXPECT_EQ(counters.taken, samples.size())
      << counters.ring_full << " ring full, " << counters.registers_unreadable << " registers, "
      << counters.thread_unreadable << " thread, " << counters.stack_unreadable << " stack unreadable";
  EXPECT_GT(counters.ns, 0u);
  ASSERT_GT(samples.size(), 20u);
  uint64_t weight = 0;
  size_t with_witness = 0;
  for (const Sample& sample : samples) {
    weight += sample.weight_ns;
    EXPECT_EQ(sample.thread, 42u);
    EXPECT_GE(sample.time_ns, static_cast<uint64_t>(before.count));
    EXPECT_LE(sample.time_ns, static_cast<uint64_t>(after.count));
    EXPECT_LE(sample.kernel.size(), capture::kMaxKernelFrames);
    const hotspot::Fragment& fragment = sample.fragment;
    EXPECT_NE(fragment.pc, 0u);
    EXPECT_EQ(fragment.anchor.sp, 0x111u);
    EXPECT_EQ(fragment.anchor.pc, 0x222u);
    EXPECT_EQ(fragment.anchor.fp, 0x333u);
    EXPECT_EQ(fragment.thread_state, hotspot::kThreadInJava);
    EXPECT_EQ(fragment.continuation, 0x444u);
    EXPECT_EQ(fragment.epoch, 11u);
    EXPECT_FALSE(fragment.cut);
#if defined(__aarch64__)
    EXPECT_EQ(fragment.fp, fragment.general[29]);
#else
    EXPECT_EQ(fragment.fp, fragment.general[6]);
    EXPECT_EQ(fragment.sp, fragment.general[7]);
#endif
    EXPECT_EQ(fragment.sp + fragment.stack_bytes, java_thread_[6]);
    if (std::find(sample.stack.begin(), sample.stack.end(), kWitness) != sample.stack.end()) ++with_witness;
  }
  EXPECT_EQ(with_witness, samples.size());
  // A busy machine takes ticks away (steal); it adds none.
  EXPECT_GT(weight, 150'000'000u);
  EXPECT_LT(weight, 450'000'000u);
}

TEST_F(KernelCaptureTest, in_the_kernel_the_registers_are_the_users_and_kernel_frames_come_along) {
  load();
  if (IsSkipped()) return;
  volatile uint64_t room[512];
  touch(room);
  room[300] = kWitness;
  java_thread_[6] = reinterpret_cast<uint64_t>(room + 512);
  const JavaThread thread = self(java_thread_);
  ASSERT_TRUE(capture_->thread_started(thread));
  ASSERT_TRUE(capture_->start());
  std::vector<char> bytes(1 << 20);
  const int zero = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
  burn(millis(300), [&] { ASSERT_TRUE(fill_in_kernel(zero, bytes)); });
  ::close(zero);
  capture_->silence();
  capture_->thread_ended(thread);
  const auto samples = read();
  size_t in_kernel = 0;
  for (const Sample& sample : samples) {
    if (!sample.kernel.empty()) ++in_kernel;
    for (const uint64_t address : sample.kernel) EXPECT_GT(address, uint64_t{1} << 63);
    EXPECT_LT(sample.fragment.pc, uint64_t{1} << 63);
    EXPECT_EQ(sample.fragment.sp + sample.fragment.stack_bytes, java_thread_[6]);
    EXPECT_NE(std::find(sample.stack.begin(), sample.stack.end(), kWitness), sample.stack.end());
  }
  EXPECT_GT(in_kernel, samples.size() / 4);
}

TEST_F(KernelCaptureTest, a_kernel_that_does_not_tell_the_users_registers_costs_the_ticks_in_it) {
  load(1 << 24, true);
  if (IsSkipped()) return;
  EXPECT_FALSE(capture_->sees_kernel());
  volatile uint64_t room[512];
  touch(room);
  room[300] = kWitness;
  java_thread_[6] = reinterpret_cast<uint64_t>(room + 512);
  ASSERT_TRUE(capture_->thread_started(self(java_thread_)));
  ASSERT_TRUE(capture_->start());
  std::vector<char> bytes(1 << 20);
  const int zero = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
  burn(millis(200), [&] {
    ASSERT_TRUE(fill_in_kernel(zero, bytes));
    for (int i = 0; i < 100'000; ++i) room[0] = room[0] + 1;
  });
  ::close(zero);
  capture_->silence();
  const auto samples = read();
  const linux::bpf::Counters counters = capture_->counters();
  EXPECT_GT(counters.registers_unreadable, 0u);
  EXPECT_GT(samples.size(), 0u);
  EXPECT_EQ(counters.taken, samples.size() + counters.registers_unreadable);
  for (const Sample& sample : samples) {
    EXPECT_TRUE(sample.kernel.empty());
    EXPECT_NE(std::find(sample.stack.begin(), sample.stack.end(), kWitness), sample.stack.end());
  }
}

TEST_F(KernelCaptureTest, a_deep_stack_is_cut_if_the_ring_is_small_and_a_foreign_one_left_alone) {
  load(1 << 19);
  if (IsSkipped()) return;
  volatile uint8_t room[2 * capture::FragmentCapture::kMaxStack];
  touch(room);
  const JavaThread thread = self(java_thread_);
  ASSERT_TRUE(capture_->thread_started(thread));
  ASSERT_TRUE(capture_->start());
  for (const uint64_t base : {reinterpret_cast<uint64_t>(room) + sizeof(room), uint64_t{4096}}) {
    java_thread_[6] = base;
    (void)read();
    burn(millis(50), [&] { room[0] = room[0] + 1; });
    capture_->silence();
    const auto samples = read();
    ASSERT_GT(samples.size(), 2u);
    for (size_t i = 1; i < samples.size(); ++i) {  // the first may be older
      EXPECT_EQ(samples[i].fragment.stack_bytes, base == 4096 ? 0 : capture::FragmentCapture::kMaxStack);
      EXPECT_EQ(samples[i].fragment.cut, base != 4096);
    }
    ASSERT_TRUE(capture_->start());
  }
}

TEST_F(KernelCaptureTest, a_deep_stack_is_copied_whole_while_there_is_room) {
  load();
  if (IsSkipped()) return;
  volatile uint8_t room[3 * capture::FragmentCapture::kMaxStack];
  touch(room);
  java_thread_[6] = reinterpret_cast<uint64_t>(room) + sizeof(room);
  ASSERT_TRUE(capture_->thread_started(self(java_thread_)));
  ASSERT_TRUE(capture_->start());
  burn(millis(300), [&] { room[0] = room[0] + 1; });
  capture_->silence();
  const auto samples = read();
  ASSERT_GT(samples.size(), 2u);
  EXPECT_EQ(samples.front().fragment.sp + samples.front().fragment.stack_bytes, java_thread_[6]);
  EXPECT_FALSE(samples.front().fragment.cut);
  EXPECT_TRUE(samples.size() < 150 || samples.back().fragment.cut) << "the ring was half full";
}

TEST_F(KernelCaptureTest, a_stack_that_is_not_cut_ends_where_its_java_frames_do) {
  load();
  if (IsSkipped()) return;
  volatile uint8_t room[2 * capture::FragmentCapture::kMaxStack];
  touch(room);
  java_thread_[6] = reinterpret_cast<uint64_t>(room) + sizeof(room);
  const JavaThread thread = self(java_thread_);
  const uint64_t bottom = reinterpret_cast<uint64_t>(room) + 4096;
  capture_->bottoms().learn(thread.serial, bottom);
  capture_->bottoms().learn(thread.serial + 1, bottom + 4096);
  ASSERT_TRUE(capture_->thread_started(thread));
  ASSERT_TRUE(capture_->start());
  burn(millis(50), [&] { room[0] = room[0] + 1; });
  capture_->silence();
  const auto samples = read();
  ASSERT_GT(samples.size(), 2u);
  for (const Sample& sample : samples) {
    EXPECT_EQ(sample.fragment.sp + sample.fragment.stack_bytes, bottom);
    EXPECT_FALSE(sample.fragment.cut);
  }
}

TEST_F(KernelCaptureTest, of_a_virtual_thread_the_same_is_copied_as_by_a_handler) {
  capture::MadeUpVirtualThread heap;
  hotspot::VirtualThreadLayout layout = capture::MadeUpVirtualThread::layout();
  layout.carrier = 56;
  layout.current = 64;
  load(1 << 24, false, &layout);
  if (IsSkipped()) return;
  volatile uint64_t room[512];
  touch(room);
  uint64_t java_thread[9] = {};
  java_thread[6] = reinterpret_cast<uint64_t>(room + 512);
  java_thread[7] = reinterpret_cast<uint64_t>(&heap.handles[0]);
  java_thread[8] = reinterpret_cast<uint64_t>(&heap.handles[1]);
  hotspot::Fragment expected{};
  capture::FrozenFrames frozen(layout, ::getpid(), reinterpret_cast<const uint8_t*>(java_thread), nullptr);
  frozen.find(expected);
  std::vector<uint8_t> bytes(expected.frozen_bytes + expected.padded_name());
  frozen.copy(expected, bytes.data(), bytes.data() + expected.frozen_bytes);
  ASSERT_EQ(expected.virtual_id, 77);

  ASSERT_TRUE(capture_->thread_started(self(java_thread)));
  ASSERT_TRUE(capture_->start());
  burn(millis(50), [&] { room[0] = room[0] + 1; });
  capture_->silence();
  const auto samples = read();
  ASSERT_GT(samples.size(), 2u);
  EXPECT_EQ(samples[0].frozen, bytes);
  EXPECT_EQ(samples[0].fragment.name_bytes, expected.name_bytes);
  for (const Sample& sample : samples) {
    EXPECT_EQ(sample.fragment.virtual_id, 77);
    EXPECT_EQ(sample.fragment.frozen_bytes, expected.frozen_bytes);
    EXPECT_FALSE(sample.fragment.frozen_cut);
    EXPECT_EQ(sample.fragment.sp + sample.fragment.stack_bytes, java_thread[6]);
    EXPECT_TRUE(&sample == samples.data() || sample.fragment.name_bytes == 0) << "the name is known by now";
  }

  heap.words[capture::MadeUpVirtualThread::kChunk + 1] = 0x10;  // the parent: nothing is mapped there
  ASSERT_TRUE(capture_->start());
  burn(millis(50), [&] { room[0] = room[0] + 1; });
  capture_->silence();
  for (const Sample& sample : read()) EXPECT_TRUE(sample.fragment.frozen_cut);

  heap.handles[1] = heap.handles[0];  // unmounted
  ASSERT_TRUE(capture_->start());
  burn(millis(50), [&] { room[0] = room[0] + 1; });
  capture_->silence();
  for (const Sample& sample : read()) {
    EXPECT_EQ(sample.fragment.virtual_id, 0);
    EXPECT_TRUE(sample.frozen.empty());
  }
}

TEST_F(KernelCaptureTest, what_does_not_fit_or_can_not_be_read_is_dropped_and_counted) {
  load(1 << 16);
  if (IsSkipped()) return;
  volatile uint8_t room[2 * capture::FragmentCapture::kMaxStack];
  touch(room);
  java_thread_[6] = reinterpret_cast<uint64_t>(room) + sizeof(room);
  JavaThread thread = self(java_thread_);
  ASSERT_TRUE(capture_->thread_started(thread));
  ASSERT_TRUE(capture_->start());
  burn(millis(50), [&] { room[0] = room[0] + 1; });
  capture_->silence();
  const size_t written = read().size();
  linux::bpf::Counters counters = capture_->counters();
  EXPECT_GT(written, 0u);
  EXPECT_GT(counters.ring_full, 0u);
  EXPECT_EQ(counters.taken, written + counters.ring_full);

  thread.java_thread = reinterpret_cast<const uint8_t*>(16);
  ASSERT_TRUE(capture_->thread_started(thread));
  ASSERT_TRUE(capture_->start());
  burn(millis(50), [&] { room[0] = room[0] + 1; });
  capture_->silence();
  EXPECT_TRUE(read().empty());
  counters = capture_->counters();
  EXPECT_GT(counters.thread_unreadable, 0u);

  // A page between sp and base that nobody may read.
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  auto* hole = reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(room) + page) & ~(page - 1));
  ASSERT_EQ(::mprotect(hole, page, PROT_NONE), 0);
  thread.java_thread = reinterpret_cast<const uint8_t*>(java_thread_);
  ASSERT_TRUE(capture_->thread_started(thread));
  ASSERT_TRUE(capture_->start());
  burn(millis(50), [&] { room[sizeof(room) - 1] = room[sizeof(room) - 1] + 1; });
  capture_->silence();
  ASSERT_EQ(::mprotect(hole, page, PROT_READ | PROT_WRITE), 0);
  const size_t late = read().size();
  counters = capture_->counters();
  EXPECT_GT(counters.stack_unreadable, 0u);
  EXPECT_EQ(counters.taken, written + late + counters.ring_full + counters.thread_unreadable +
                                counters.registers_unreadable + counters.stack_unreadable);
}

TEST_F(KernelCaptureTest, the_stack_of_a_thread_without_a_java_thread_goes_as_far_as_was_learned) {
  load();
  if (IsSkipped()) return;
  JavaThread thread = self(nullptr);
  ASSERT_TRUE(capture_->thread_started(thread));
  const auto burn_until = [&](uint64_t end) {
    capture_->bottoms().learn(thread.serial, end);
    EXPECT_TRUE(capture_->start());
    burn(millis(30), [] {});
    capture_->silence();
  };
  size_t count = 0;
  const auto expect_end = [&](uint64_t end) {
    capture_->consume(
        [&](const capture::FragmentRecord& record) {
          const hotspot::Fragment& fragment = record.fragment();
          EXPECT_EQ(fragment.thread_state, hotspot::kThreadInNative);
          EXPECT_EQ(fragment.anchor.sp, 0u);
          EXPECT_EQ(fragment.stack_bytes, end == 0 ? 0 : end - fragment.sp);
          ++count;
        },
        1000);
  };
  burn_until(0);
  expect_end(0);
  EXPECT_GT(count, 0u);
  int on_stack = 0;
  const uint64_t end = (reinterpret_cast<uint64_t>(&on_stack) + 512) & ~uint64_t{7};
  burn_until(end);
  expect_end(end);
  // Where there is no memory the sample comes without. Without random addresses a stack may lie where none are left.
  const uint64_t nowhere = linux::mapping_end(end) + (1 << 20);
  if (nowhere >> capture::JavaBottoms::kAddressBits == 0) {
    burn_until(nowhere);
    expect_end(0);
  }
  const linux::bpf::Counters counters = capture_->counters();
  EXPECT_EQ(counters.taken, count + counters.ring_full + counters.registers_unreadable);
  EXPECT_EQ(counters.stack_unreadable, 0u);
}

TEST_F(KernelCaptureTest, what_a_thread_did_before_it_was_known_is_its) {
  load();
  if (IsSkipped()) return;
  ASSERT_TRUE(capture_->start());
  for (const bool drained : {false, true}) {
    burn(millis(50), [] {});
    capture_->silence();
    if (drained) {
      EXPECT_TRUE(read().empty());
    }
    const JavaThread thread = self(java_thread_);
    ASSERT_TRUE(capture_->thread_started(thread));
    capture_->thread_ended(thread);
    size_t count = 0;
    const auto check = [&](const FragmentRecord& record) {
      ++count;
      EXPECT_EQ(record.thread, 42u);
      EXPECT_FALSE(record.waits || record.repeated);
      EXPECT_EQ(record.fragment().stack_bytes, 0u);
      EXPECT_EQ(record.fragment().anchor.sp, 0u);
    };
    const uint64_t before = capture_->counters().taken;
    capture_->consume(check, SIZE_MAX);
    EXPECT_EQ(count == 0, drained) << "those that have been read already were kept";
    capture_->settle(check);
    EXPECT_GT(count, 5u);
    EXPECT_EQ(capture_->counters().taken - before, count);
    capture_->settle(check);
    capture_->settle(check);  // the thread is forgotten by now
    ASSERT_TRUE(capture_->start());
  }
}

TEST_F(KernelCaptureTest, threads_that_are_not_known_any_more_and_other_processes_give_no_sample) {
  load();
  if (IsSkipped()) return;
  const JavaThread thread = self(java_thread_);
  ASSERT_TRUE(capture_->thread_started(thread));
  capture_->thread_ended(thread);
  ASSERT_TRUE(capture_->start());
  std::jthread other([] { burn(millis(50), [] {}); });
  burn(millis(50), [] {});
  other.join();
  capture_->silence();
  EXPECT_TRUE(read().empty());
  const linux::bpf::Counters counters = capture_->counters();
  EXPECT_EQ(counters.taken, 0u);
  EXPECT_GT(counters.other_threads, 20u);
  EXPECT_TRUE(capture_->warnings().empty());
}

}  // namespace
}  // namespace tarsier::agent
