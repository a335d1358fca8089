// The wall clock with real threads and signals, without a JVM.
#include "agent/engines/wall_clock.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <thread>

#include "base/clock.h"
#include "base/under_sanitizer.h"
#include "capture/registers.h"
#include "linux/procfs.h"
#include "linux/signals.h"

namespace tarsier::agent {
namespace {

struct Subject final : capture::Repeats {
  capture::ThreadClock clock;
  pid_t tid = 0;
  std::atomic<uint64_t> signals{0}, waiting{0}, repeats{0}, weight{0}, repeated_weight{0};

  void repeat(const capture::ThreadClock& thread, uint64_t, uint64_t weight_ns) noexcept override {
    EXPECT_EQ(&thread, &clock);
    EXPECT_TRUE(thread.waits);
    repeats.fetch_add(1);
    repeated_weight.fetch_add(weight_ns);
  }
};
WallClock* g_clock = nullptr;
Subject* g_subject = nullptr;

void on_signal(int, siginfo_t* info, void* ucontext) {
  if (::syscall(SYS_gettid) != g_subject->tid) return;
  capture::ThreadClock& clock = g_subject->clock;
  ASSERT_TRUE(g_clock->owns(clock, *info));
  g_subject->weight.fetch_add(g_clock->weight_ns(clock, *info));
  g_subject->waiting.fetch_add(clock.waits ? 1 : 0);
  g_subject->signals.fetch_add(1);
  g_clock->rest(clock, capture::Registers::of(*static_cast<ucontext_t*>(ucontext)).sp);
  g_clock->rearm(clock);
}

// Runs `body` in a thread under the clock until `done` answers true.
template <class Body, class Done>
Nanos observe(Subject& subject, Body body, Done done) {
  auto signal = linux::OwnedSignal::take(on_signal);
  EXPECT_TRUE(signal);
  WallClock clock(signal->number(), millis(1));
  g_clock = &clock;
  g_subject = &subject;
  std::atomic<bool> stop{false}, ready{false};
  std::thread thread([&] {
    subject.tid = ::gettid();
    ready = true;
    body(stop);
  });
  while (!ready) std::this_thread::yield();
  EXPECT_EQ(clock.open(subject), 0);
  const Nanos began = monotonic_now();
  EXPECT_EQ(clock.start(subject.tid, subject.clock), 0);
  const Nanos deadline = began + seconds(60);
  while (!done() && monotonic_now() < deadline) ::usleep(1000);
  EXPECT_TRUE(done());
  clock.stop(subject.clock);
  const Nanos elapsed = monotonic_now() - began;
  clock.close();
  stop = true;
  stop.notify_all();
  thread.join();
  return elapsed;
}

TEST(WallClock, leaves_a_sleeping_thread_asleep_and_accounts_for_all_of_its_time) {
  if (kUnderSanitizer) GTEST_SKIP() << "a sanitizer delays signals";
  if (!linux::sleeping_sp(::gettid())) GTEST_SKIP() << "the kernel does not tell where threads sleep";
  Subject subject;
  const Nanos elapsed = observe(
      subject, [](std::atomic<bool>& stop) { stop.wait(false); }, [&] { return subject.repeats >= 2; });
  // A visit while it falls asleep, or is woken by the machine's other business, may cost another signal.
  EXPECT_LE(subject.signals, 20u);
  EXPECT_GE(subject.waiting, 1u);
  const uint64_t weight = subject.weight + subject.repeated_weight;
  EXPECT_GT(weight, static_cast<uint64_t>(elapsed.count) * 8 / 10);
  EXPECT_LT(weight, static_cast<uint64_t>(elapsed.count) * 11 / 10);
}

TEST(WallClock, signals_a_running_thread_again_and_again) {
  if (kUnderSanitizer) GTEST_SKIP() << "a sanitizer delays signals";
  Subject subject;
  observe(
      subject,
      [&](std::atomic<bool>& stop) {
        while (!stop) {
        }
      },
      [&] { return subject.signals >= 50; });
  EXPECT_EQ(subject.repeats, 0u);
  EXPECT_LT(subject.waiting, subject.signals / 4);
}

}  // namespace
}  // namespace tarsier::agent
