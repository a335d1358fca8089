// The handler that only copies, without a JVM: a few words stand in for a JavaThread, the signals are real.
#include "capture/fragment_capture.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "linux/signals.h"

namespace tarsier::capture {
namespace {

class ManualClock final : public Clock {
 public:
  int start(pid_t, ThreadClock&) noexcept override { return 0; }
  void stop(ThreadClock&) noexcept override {}
  bool owns(const ThreadClock&, const siginfo_t&) const noexcept override { return true; }
  uint64_t weight_ns(ThreadClock&, const siginfo_t&) noexcept override { return 7; }
  uint32_t kernel_frames(ThreadClock&, uint64_t* out) noexcept override {
    out[0] = 0xffff0000;
    return 1;
  }
  void rearm(ThreadClock&) noexcept override {}
};

struct Fixture {
  Fixture()
      : ring(1 << 17),
        table(1 << 22),
        capture(clock, fields, {reinterpret_cast<uint8_t*>(ring.data()), 8 * ring.size(), table.data(), table.size()}) {
    thread.clock.serial = 42;
    thread.java_thread = reinterpret_cast<const uint8_t*>(java_thread);
    capture.threads().set(::gettid(), &thread);
    SignalCapture::activate(&capture);
  }
  ~Fixture() { SignalCapture::activate(nullptr); }
  // The words of the copied stack.
  std::vector<uint64_t> copied(hotspot::Fragment& fragment) {
    std::vector<uint64_t> words;
    const size_t count = capture.ring().consume([&](const uint8_t* payload, size_t) {
      const auto& record = *reinterpret_cast<const FragmentRecord*>(payload);
      EXPECT_EQ(record.thread, 42u);
      EXPECT_EQ(record.weight_ns, 7u);
      EXPECT_EQ(record.kernel().size(), 1u);
      fragment = record.fragment();
      words.resize(fragment.stack_bytes / 8);
      if (!words.empty()) std::memcpy(words.data(), record.fragment().stack(), fragment.stack_bytes);
    });
    EXPECT_EQ(count, 1u);
    return words;
  }

  const hotspot::ThreadFields fields{.anchor_sp = 8,
                                     .anchor_pc = 16,
                                     .anchor_fp = 24,
                                     .thread_state = 32,
                                     .continuation = 40,
                                     .stack_base = 48,
                                     .stack_size = 56};
  uint64_t java_thread[8] = {0, 0x111, 0x222, 0x333, 8, 0x444, 0, 1 << 30};
  std::vector<uint64_t> ring;
  std::vector<void*> table;
  ManualClock clock;
  SampledThread thread;
  FragmentCapture capture;
};

TEST(FragmentCapture, copies_registers_anchor_and_the_stack_up_to_its_base) {
  const auto fixture = std::make_unique<Fixture>();  // too large for the stack that is copied
  Fixture& f = *fixture;
  auto signal = linux::OwnedSignal::take(SignalCapture::handle_signal);
  ASSERT_TRUE(signal);
  volatile uint64_t room[512];
  room[300] = 0x1234567890abcdef;
  f.java_thread[6] = reinterpret_cast<uint64_t>(room + 512);
  ::raise(signal->number());
  hotspot::Fragment fragment;
  const auto words = f.copied(fragment);
  EXPECT_EQ(fragment.anchor.sp, 0x111u);
  EXPECT_EQ(fragment.anchor.pc, 0x222u);
  EXPECT_EQ(fragment.anchor.fp, 0x333u);
  EXPECT_EQ(fragment.thread_state, hotspot::kThreadInJava);
  EXPECT_EQ(fragment.continuation, 0x444u);
  EXPECT_NE(fragment.pc, 0u);
  EXPECT_FALSE(fragment.cut);
  EXPECT_EQ(fragment.sp + fragment.stack_bytes, f.java_thread[6]);
  EXPECT_NE(std::find(words.begin(), words.end(), uint64_t{0x1234567890abcdef}), words.end());
}

TEST(FragmentCapture, a_deep_stack_is_whole_as_long_as_there_is_room_and_a_foreign_one_left_alone) {
  const auto fixture = std::make_unique<Fixture>();  // too large for the stack that is copied
  Fixture& f = *fixture;
  auto signal = linux::OwnedSignal::take(SignalCapture::handle_signal);
  ASSERT_TRUE(signal);
  volatile uint8_t room[FragmentCapture::kMaxStack + (16 << 10)];
  room[sizeof(room) - 1] = 1;
  hotspot::Fragment fragment;
  f.java_thread[6] = reinterpret_cast<uint64_t>(room) + sizeof(room);
  ::raise(signal->number());
  (void)f.copied(fragment);
  EXPECT_EQ(fragment.sp + fragment.stack_bytes, f.java_thread[6]);
  EXPECT_FALSE(fragment.cut);
  uint8_t* taken = f.capture.ring().reserve(f.capture.ring().capacity() / 2);
  ASSERT_NE(taken, nullptr);
  ::raise(signal->number());
  f.capture.ring().abandon(taken);
  (void)f.copied(fragment);
  EXPECT_EQ(fragment.stack_bytes, FragmentCapture::kMaxStack);
  EXPECT_TRUE(fragment.cut);
  f.java_thread[6] = 4096;  // not the stack that we are on
  ::raise(signal->number());
  (void)f.copied(fragment);
  EXPECT_EQ(fragment.stack_bytes, 0u);
}

TEST(FragmentCapture, a_stack_that_lies_below_that_of_the_thread_is_left_alone) {
  const auto fixture = std::make_unique<Fixture>();  // too large for the stack that is copied
  Fixture& f = *fixture;
  auto signal = linux::OwnedSignal::take(SignalCapture::handle_signal);
  ASSERT_TRUE(signal);
  volatile uint64_t room[512];
  room[300] = 1;
  const auto base = reinterpret_cast<uint64_t>(room + 512);
  hotspot::Fragment fragment;
  // This one is the stack of the coroutine, that of the thread ends some way above it.
  f.java_thread[6] = base + (1 << 20);
  f.java_thread[7] = (1 << 20) - 4096;
  ::raise(signal->number());
  (void)f.copied(fragment);
  EXPECT_EQ(fragment.stack_bytes, 0u);
  EXPECT_EQ(fragment.anchor.sp, 0x111u);
  f.java_thread[6] = base;
  f.java_thread[7] = 1 << 20;
  ::raise(signal->number());
  (void)f.copied(fragment);
  EXPECT_EQ(fragment.sp + fragment.stack_bytes, base);
}

TEST(FragmentCapture, nothing_is_copied_above_the_bottom_that_was_learned) {
  const auto fixture = std::make_unique<Fixture>();  // too large for the stack that is copied
  Fixture& f = *fixture;
  auto signal = linux::OwnedSignal::take(SignalCapture::handle_signal);
  ASSERT_TRUE(signal);
  volatile uint64_t room[512];
  room[300] = 1;
  f.java_thread[6] = reinterpret_cast<uint64_t>(room + 512);
  hotspot::Fragment fragment;
  f.capture.bottoms().learn(42, reinterpret_cast<uint64_t>(room + 400));
  ::raise(signal->number());
  (void)f.copied(fragment);
  EXPECT_EQ(fragment.sp + fragment.stack_bytes, reinterpret_cast<uint64_t>(room + 400));
  EXPECT_FALSE(fragment.cut);
  // Of another thread, below sp, forgotten again: up to the base.
  f.capture.bottoms().learn(42 + 4096, reinterpret_cast<uint64_t>(room + 400));
  ::raise(signal->number());
  (void)f.copied(fragment);
  EXPECT_EQ(fragment.sp + fragment.stack_bytes, f.java_thread[6]);
  f.capture.bottoms().learn(42, fragment.sp - 4096);
  ::raise(signal->number());
  (void)f.copied(fragment);
  EXPECT_EQ(fragment.sp + fragment.stack_bytes, f.java_thread[6]);
}

TEST(FragmentCapture, what_does_not_fit_is_dropped_and_counted) {
  const auto fixture = std::make_unique<Fixture>();  // too large for the stack that is copied
  Fixture& f = *fixture;
  auto signal = linux::OwnedSignal::take(SignalCapture::handle_signal);
  ASSERT_TRUE(signal);
  volatile uint8_t room[2 * FragmentCapture::kMaxStack];
  room[sizeof(room) - 1] = 1;
  f.java_thread[6] = reinterpret_cast<uint64_t>(room) + sizeof(room);
  for (int i = 0; i < 60; ++i) ::raise(signal->number());
  const uint64_t written = f.capture.ring().consume([](const uint8_t*, size_t) {});
  const uint64_t dropped = f.capture.counters().dropped[static_cast<size_t>(Drop::kRingFull)];
  EXPECT_GT(written, 0u);
  EXPECT_GT(dropped, 0u);
  EXPECT_EQ(f.capture.counters().taken, written + dropped);
}

}  // namespace
}  // namespace tarsier::capture
