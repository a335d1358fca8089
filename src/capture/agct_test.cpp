// The handler without a JVM: a function of our own stands in for AsyncGetCallTrace, the signals and clocks are real.
#include "capture/agct.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/under_sanitizer.h"
#include "capture/cpu_timer_clock.h"
#include "capture/perf_clock.h"
#include "linux/procfs.h"
#include "linux/signals.h"

namespace tarsier::capture {
namespace {

constexpr int32_t kDepth = 16;

// Answers three frames, or what g_answer says.
std::atomic<int32_t> g_answer{3};
void fake_agct(AgctTrace* trace, int32_t depth, void*) {
  const int32_t answer = g_answer.load();
  trace->frame_count = answer;
  for (int32_t i = 0; i < answer && i < depth; ++i) trace->frames[i] = {i, reinterpret_cast<void*>(0x1000 + i)};
}

// Ticks when the test says so.
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
  explicit Fixture(Clock& clock, size_t ring_size = 1 << 16)
      : ring(ring_size / 8),
        table(1 << 22),
        scratch(4 * AgctCapture::scratch_size(kDepth) / 8),
        capture(fake_agct, clock, kDepth,
                {reinterpret_cast<uint8_t*>(ring.data()), ring_size, table.data(), table.size()},
                {reinterpret_cast<uint8_t*>(scratch.data()), 4}) {
    g_answer = 3;
  }
  void add(SampledThread& thread, pid_t tid) { capture.threads().set(tid, &thread); }
  uint64_t dropped(Drop cause) { return capture.counters().dropped[static_cast<size_t>(cause)]; }

  std::vector<uint64_t> ring;
  std::vector<void*> table;
  std::vector<uint64_t> scratch;
  AgctCapture capture;
};

TEST(Agct, a_sample_carries_thread_weight_kernel_and_java_frames) {
  ManualClock clock;
  Fixture f(clock);
  SampledThread thread;
  thread.clock.serial = 42;
  f.add(thread, ::gettid());
  auto signal = linux::OwnedSignal::take(SignalCapture::handle_signal);
  ASSERT_TRUE(signal);
  SignalCapture::activate(&f.capture);
  ::raise(signal->number());
  SignalCapture::activate(nullptr);
  ::raise(signal->number());  // nobody listens any more

  EXPECT_EQ(f.capture.counters().taken, 1u);
  const size_t consumed = f.capture.ring().consume([](const uint8_t* payload, size_t) {
    const auto& record = *reinterpret_cast<const AgctRecord*>(payload);
    EXPECT_EQ(record.thread, 42u);
    EXPECT_EQ(record.weight_ns, 7u);
    EXPECT_EQ(record.result, 3);
    ASSERT_EQ(record.kernel().size(), 1u);
    EXPECT_EQ(record.kernel()[0], 0xffff0000u);
    ASSERT_EQ(record.frames().size(), 3u);
    EXPECT_EQ(record.frames()[2].bci, 2);
    EXPECT_NE(record.pc, 0u);
  });
  EXPECT_EQ(consumed, 1u);
}

TEST(Agct, errno_survives_the_handler) {
  ManualClock clock;
  Fixture f(clock);
  SampledThread thread;
  f.add(thread, ::gettid());
  auto signal = linux::OwnedSignal::take(SignalCapture::handle_signal);
  ASSERT_TRUE(signal);
  SignalCapture::activate(&f.capture);
  errno = 4711;
  ::syscall(SYS_tgkill, ::getpid(), ::gettid(), signal->number());
  EXPECT_EQ(errno, 4711);
  SignalCapture::activate(nullptr);
}

TEST(Agct, what_does_not_fit_is_counted_by_cause_and_the_sum_holds) {
  ManualClock clock;
  Fixture f(clock, 1 << 10);
  SampledThread thread;
  auto signal = linux::OwnedSignal::take(SignalCapture::handle_signal);
  ASSERT_TRUE(signal);
  SignalCapture::activate(&f.capture);
  f.add(thread, ::gettid());
  for (int i = 0; i < 100; ++i) ::raise(signal->number());
  SignalCapture::activate(nullptr);
  const uint64_t written = f.capture.ring().consume([](const uint8_t*, size_t) {});
  EXPECT_GT(f.dropped(Drop::kRingFull), 0u);
  EXPECT_EQ(f.capture.counters().taken, 100u);
  EXPECT_EQ(f.capture.counters().taken, written + f.dropped(Drop::kRingFull));
}

TEST(Agct, a_thread_inside_the_jvm_without_any_java_frame_is_no_failure) {
  ManualClock clock;
  Fixture f(clock);
  SampledThread thread;
  uint64_t last_java_sp = 0;
  thread.last_java_sp = &last_java_sp;
  f.add(thread, ::gettid());
  auto signal = linux::OwnedSignal::take(SignalCapture::handle_signal);
  ASSERT_TRUE(signal);
  SignalCapture::activate(&f.capture);
  g_answer = -3;
  ::raise(signal->number());
  last_java_sp = 0x1000;
  ::raise(signal->number());
  SignalCapture::activate(nullptr);
  std::vector<int32_t> results;
  f.capture.ring().consume(
      [&](const uint8_t* payload, size_t) { results.push_back(reinterpret_cast<const AgctRecord*>(payload)->result); });
  EXPECT_EQ(results, (std::vector<int32_t>{0, -3}));
}

TEST(Agct, a_repetition_is_a_sample_that_counts_and_carries_no_stack) {
  ManualClock clock;
  Fixture f(clock);
  ThreadClock thread;
  thread.serial = 42;
  thread.waits = true;
  f.capture.repeat(thread, 100, 7);
  EXPECT_EQ(f.capture.counters().taken, 1u);
  f.capture.ring().consume([](const uint8_t* payload, size_t) {
    const auto& record = *reinterpret_cast<const AgctRecord*>(payload);
    EXPECT_EQ(record.thread, 42u);
    EXPECT_EQ(record.time_ns, 100u);
    EXPECT_EQ(record.weight_ns, 7u);
    EXPECT_TRUE(record.repeated);
    EXPECT_TRUE(record.waits);
    EXPECT_EQ(record.frames().size(), 0u);
  });
}

TEST(Agct, a_failed_walk_is_a_sample_with_its_cause) {
  ManualClock clock;
  Fixture f(clock);
  SampledThread thread;
  f.add(thread, ::gettid());
  auto signal = linux::OwnedSignal::take(SignalCapture::handle_signal);
  ASSERT_TRUE(signal);
  SignalCapture::activate(&f.capture);
  for (const int32_t answer : {0, -2, -5, -6, -10}) {
    g_answer = answer;
    ::raise(signal->number());
    f.capture.ring().consume([&](const uint8_t* payload, size_t) {
      const auto& record = *reinterpret_cast<const AgctRecord*>(payload);
      EXPECT_EQ(record.result, answer);
      EXPECT_EQ(record.frame_count, 0u);
    });
  }
  SignalCapture::activate(nullptr);
}

// CPU time used by this thread, spent in a way that the optimizer keeps.
void burn(Nanos cpu) {
  const Nanos end = *linux::thread_cpu_time(::gettid()) + cpu;
  volatile uint64_t sink = 0;
  while (*linux::thread_cpu_time(::gettid()) < end) {
    for (int i = 0; i < 1000; ++i) sink = sink + 1;
  }
}

// The samples of a burning thread weigh what the kernel says it used; a sleeping one has none.
void expect_weights_tell_the_cpu_time(Clock& clock, bool only_at_ticks = false) {
  Fixture f(clock, 1 << 22);
  SignalCapture::activate(&f.capture);
  SampledThread busy, idle;
  busy.clock.serial = 1;
  idle.clock.serial = 2;
  std::atomic<pid_t> idle_tid{0};
  std::atomic<bool> stop{false};
  std::thread sleeper([&] {
    idle_tid = ::gettid();
    while (!stop) ::usleep(1000);
  });
  while (idle_tid == 0) std::this_thread::yield();
  f.add(busy, ::gettid());
  f.add(idle, idle_tid);
  ASSERT_EQ(clock.start(idle_tid, idle.clock), 0);
  ASSERT_EQ(clock.start(::gettid(), busy.clock), 0);
  const Nanos before = *linux::thread_cpu_time(::gettid()), began = clock_now(CLOCK_MONOTONIC);
  burn(millis(400));
  const Nanos used = *linux::thread_cpu_time(::gettid()) - before, took = clock_now(CLOCK_MONOTONIC) - began;
  SignalCapture::activate(nullptr);
  clock.stop(busy.clock);
  clock.stop(idle.clock);
  stop = true;
  sleeper.join();

  uint64_t weight = 0, samples = 0, idle_samples = 0;
  f.capture.ring().consume([&](const uint8_t* payload, size_t) {
    const auto& record = *reinterpret_cast<const AgctRecord*>(payload);
    if (record.thread == 2) ++idle_samples;
    if (record.thread != 1) return;
    ++samples;
    weight += record.weight_ns;
  });
  EXPECT_EQ(f.capture.counters().taken, samples + idle_samples);
  // A clock that only the kernel's tick serves sees a thread that shares its CPU too often or never: it gets and loses
  // the CPU at a tick.
  if (only_at_ticks && took.count > used.count + used.count / 10) GTEST_SKIP() << "the CPU was shared with others";
  // The handler's own time is not sampled, and CPU timers see only whole ticks of the kernel.
  const double share = static_cast<double>(weight) / static_cast<double>(used.count);
  EXPECT_GT(share, 0.8) << samples << " samples";
  EXPECT_LT(share, 1.1) << samples << " samples";
  EXPECT_LT(idle_samples, samples / 4);
}

TEST(PerfClock, weights_tell_the_cpu_time) {
  if (kUnderSanitizer) GTEST_SKIP() << "a sanitizer delays signals";
  if (const int err = PerfClock::probe(false)) GTEST_SKIP() << "perf_event_open: " << ::strerror(err);
  auto signal = linux::OwnedSignal::take(SignalCapture::handle_signal);
  ASSERT_TRUE(signal);
  PerfClock clock({signal->number(), 500'000, PerfClock::probe(true) == 0});
  expect_weights_tell_the_cpu_time(clock);
}

// At the finest interval ticks come faster than the handler can take them.
TEST(PerfClock, a_thread_gets_on_however_fast_it_ticks) {
  if (kUnderSanitizer) GTEST_SKIP() << "a sanitizer delays signals";
  if (const int err = PerfClock::probe(false)) GTEST_SKIP() << "perf_event_open: " << ::strerror(err);
  auto signal = linux::OwnedSignal::take([](int number, siginfo_t* info, void* ucontext) {
    for (volatile int i = 0; i < 10'000;) i = i + 1;
    SignalCapture::handle_signal(number, info, ucontext);
  });
  ASSERT_TRUE(signal);
  PerfClock clock({signal->number(), PerfClock::kFinest, false});
  Fixture f(clock);
  SampledThread thread;
  f.add(thread, ::gettid());
  SignalCapture::activate(&f.capture);
  ASSERT_EQ(clock.start(::gettid(), thread.clock), 0);
  for (volatile int i = 0; i < 3'000'000;) i = i + 1;
  clock.quieten(thread.clock);
  SignalCapture::activate(nullptr);
  clock.stop(thread.clock);
  EXPECT_GT(f.capture.counters().taken, 20u);
}

TEST(CpuTimerClock, weights_tell_the_cpu_time) {
  if (kUnderSanitizer) GTEST_SKIP() << "a sanitizer delays signals";
  auto signal = linux::OwnedSignal::take(SignalCapture::handle_signal);
  ASSERT_TRUE(signal);
  CpuTimerClock clock(signal->number(), static_cast<uint64_t>(linux::kernel_tick().count));
  expect_weights_tell_the_cpu_time(clock, true);
}

TEST(Clocks, periods_are_random_around_the_interval) {
  uint64_t state = 12345;
  uint64_t sum = 0, low = ~uint64_t{0}, high = 0;
  for (int i = 0; i < 100'000; ++i) {
    const uint64_t period = draw_period(1'000'000, state);
    sum += period;
    low = std::min(low, period);
    high = std::max(high, period);
  }
  EXPECT_NEAR(static_cast<double>(sum) / 100'000, 1e6, 5e3);
  EXPECT_GE(low, 500'000u);
  EXPECT_LT(high, 1'500'000u);
}

TEST(Agct, stopping_while_many_threads_are_sampled_leaves_no_handler_behind) {
  ManualClock clock;
  auto signal = linux::OwnedSignal::take(SignalCapture::handle_signal);
  ASSERT_TRUE(signal);
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      while (!stop) ::raise(signal->number());
    });
  }
  for (int round = 0; round < 50; ++round) {
    auto f = std::make_unique<Fixture>(clock);
    SignalCapture::activate(&f->capture);
    std::this_thread::yield();
    SignalCapture::activate(nullptr);
    f.reset();  // a handler that still used it would be found by ASan
  }
  stop = true;
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace tarsier::capture
