#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

#include "agent/cpu_account.h"
#include "agent/engines/clock_choice.h"
#include "agent/engines/clock_with_spare.h"
#include "agent/engines/timekeeper.h"
#include "agent/thread_kind.h"
#include "base/clock.h"
#include "base/under_sanitizer.h"
#include "linux/procfs.h"
#include "linux/signals.h"

namespace tarsier::agent {
namespace {

using testing::HasSubstr;

TEST(ClockChoice, an_interval_finer_than_the_tick_is_refused_by_cpu_timers_with_the_way_out) {
  control::SessionOptions options;
  options.clock = "cputimer";
  options.interval = linux::kernel_tick() / 2;
  const auto choice = choose_clock(options);
  ASSERT_FALSE(choice);
  EXPECT_EQ(choice.error().code, Errc::kUsage);
  EXPECT_THAT(choice.error().what, HasSubstr("kernel's tick"));
  EXPECT_THAT(choice.error().what, HasSubstr("--clock perf"));
}

TEST(ClockChoice, cpu_timers_take_the_tick_by_default_and_say_so) {
  control::SessionOptions options;
  options.clock = "cputimer";
  const auto choice = choose_clock(options);
  ASSERT_TRUE(choice) << choice.error().what;
  EXPECT_EQ(choice->interval, std::max(linux::kernel_tick(), millis(1)));
  EXPECT_THAT(choice->why, HasSubstr("asked for"));
  EXPECT_EQ(choice->warnings.empty(), linux::kernel_tick() <= millis(1));
}

TEST(ClockChoice, an_unknown_clock_is_told_the_known_ones) {
  control::SessionOptions options;
  options.clock = "sundial";
  const auto choice = choose_clock(options);
  ASSERT_FALSE(choice);
  EXPECT_EQ(choice.error().code, Errc::kUsage);
  EXPECT_THAT(choice.error().what, HasSubstr("perf, cputimer, timekeeper, ebpf, perf-rings, wall, itimer, real"));
}

TEST(ClockChoice, the_kernels_clock_has_no_signal_and_is_for_who_names_it) {
  control::SessionOptions options;
  options.clock = "ebpf";
  const auto choice = choose_clock(options);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->make, nullptr);
  EXPECT_TRUE(choice->kernel);
  options.interval = micros(5);
  EXPECT_EQ(choose_clock(options).error().code, Errc::kUsage);
  EXPECT_NE(choose_clock({})->name, "ebpf");
}

TEST(ClockChoice, who_finds_waits_in_the_kernel_samples_there_too_unless_another_clock_is_asked_for) {
  control::SessionOptions options;
  options.cpu = true;
  EXPECT_EQ(implied_clock(options), "");
  options.waits = true;
  EXPECT_EQ(implied_clock(options), "ebpf");
  const auto choice = choose_clock(options, implied_clock(options));
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->name, "ebpf");
  EXPECT_THAT(choice->why, HasSubstr("as for the waits"));
  EXPECT_NE(choose_clock(options)->name, "ebpf") << "what is left if it does not work";
  options.clock = "cputimer";
  EXPECT_EQ(implied_clock(options), "");
  options.clock = "";
  options.engine = "agct";
  EXPECT_EQ(implied_clock(options), "");
  options.engine = "";
  options.waits_by = "watcher";
  EXPECT_EQ(implied_clock(options), "");
}

TEST(ClockChoice, baselines_are_never_chosen_by_themselves) {
  const auto choice = choose_clock({});
  ASSERT_TRUE(choice);
  EXPECT_NE(choice->name, "itimer");
  EXPECT_NE(choice->name, "real");
}

TEST(Timekeeper, a_signal_that_comes_late_is_no_sample_unless_all_do) {
  Timekeeper keeper(SIGUSR2, millis(1));
  capture::ThreadClock clock;
  clock.asked_ns = static_cast<uint64_t>(monotonic_now().count);
  EXPECT_TRUE(keeper.wants(clock));
  clock.asked_ns = static_cast<uint64_t>((monotonic_now() - millis(5)).count);
  for (int i = 1; i < 4; ++i) EXPECT_FALSE(keeper.wants(clock)) << i;
  EXPECT_TRUE(keeper.wants(clock));
  EXPECT_FALSE(keeper.wants(clock));
}

struct NoRepeats final : capture::Repeats {
  void repeat(const capture::ThreadClock&, uint64_t, uint64_t) noexcept override {}
};

// Serves so many threads and no more.
class SmallClock final : public capture::Clock {
 public:
  explicit SmallClock(int room) : room_(room) {}
  int open(capture::Repeats&) noexcept override {
    is_open = true;
    return 0;
  }
  void close() noexcept override { is_open = false; }
  int start(pid_t tid, capture::ThreadClock&) noexcept override {
    if (tid == 0) return ESRCH;
    if (room_ == 0) return EMFILE;
    --room_;
    return 0;
  }
  void stop(capture::ThreadClock&) noexcept override { ++room_; }
  [[nodiscard]] bool owns(const capture::ThreadClock&, const siginfo_t&) const noexcept override { return true; }
  uint64_t weight_ns(capture::ThreadClock&, const siginfo_t&) noexcept override { return room_; }
  uint32_t kernel_frames(capture::ThreadClock&, uint64_t*) noexcept override { return 0; }
  void rearm(capture::ThreadClock&) noexcept override {}
  bool is_open = false;

 private:
  int room_;
};

TEST(ClockWithSpare, threads_beyond_the_first_clocks_room_are_kept_by_the_spare) {
  auto first = std::make_unique<SmallClock>(1), spare = std::make_unique<SmallClock>(100);
  SmallClock &first_clock = *first, &spare_clock = *spare;
  ClockWithSpare clock(std::move(first), std::move(spare));
  NoRepeats repeats;
  ASSERT_EQ(clock.open(repeats), 0);
  capture::ThreadClock a, b, c, gone;
  EXPECT_EQ(clock.start(1, a), 0);
  EXPECT_EQ(clock.start(0, gone), ESRCH) << "a thread that has ended is nobody's";
  EXPECT_FALSE(spare_clock.is_open) << "before it is needed";
  EXPECT_EQ(clock.start(2, b), 0);
  EXPECT_TRUE(spare_clock.is_open);
  EXPECT_EQ(clock.spared(), 1);
  EXPECT_EQ(clock.last_error(), EMFILE);
  EXPECT_EQ(clock.weight_ns(a, {}), 0u) << "of the first";
  EXPECT_EQ(clock.weight_ns(b, {}), 99u) << "of the spare";
  clock.stop(a);
  EXPECT_EQ(clock.start(3, c), 0) << "there is room again";
  EXPECT_EQ(clock.spared(), 1);
  clock.stop(b);
  clock.close();
  EXPECT_FALSE(first_clock.is_open || spare_clock.is_open);
}

TEST(ClockWithSpare, a_thread_that_neither_takes_gets_the_last_word) {
  ClockWithSpare clock(std::make_unique<SmallClock>(0), std::make_unique<SmallClock>(0));
  NoRepeats repeats;
  ASSERT_EQ(clock.open(repeats), 0);
  capture::ThreadClock thread;
  EXPECT_EQ(clock.start(1, thread), EMFILE);
  EXPECT_FALSE(thread.by_spare);
  EXPECT_EQ(clock.spared(), 0);
  clock.close();
}

TEST(NativeThreads, are_told_apart_by_their_names) {
  EXPECT_EQ(kind_of_native_thread("G1 Conc#0"), "gc");
  EXPECT_EQ(kind_of_native_thread("GC Thread#1"), "gc");
  EXPECT_EQ(kind_of_native_thread("ZWorker#0"), "gc");
  EXPECT_EQ(kind_of_native_thread("C2 CompilerThre"), "jit");
  EXPECT_EQ(kind_of_native_thread("VM Thread"), "vm");
  EXPECT_EQ(kind_of_native_thread("tarsier-clock"), "tarsier");
  EXPECT_EQ(kind_of_native_thread("grpc-worker"), "other");
  EXPECT_EQ(kind_of_native_thread("JFR Sampler Thr"), "jfr");
  EXPECT_EQ(kind_of_java_thread("Finalizer", "system"), "vm");
  EXPECT_EQ(kind_of_java_thread("Finalizer", "main"), "app");
  EXPECT_EQ(kind_of_java_thread("Common-Cleaner", "InnocuousThreadGroup"), "vm");
  EXPECT_EQ(kind_of_java_thread("JFR Recorder Thread", "system"), "jfr");
  EXPECT_EQ(kind_of_java_thread("worker", "system"), "app");
}

// The handler's part of the timekeeper, without AsyncGetCallTrace.
Timekeeper* g_keeper = nullptr;
capture::ThreadClock g_busy, g_idle;
std::atomic<uint64_t> g_weight{0}, g_samples{0}, g_idle_samples{0}, g_foreign{0};
std::atomic<pid_t> g_busy_tid{0};

void on_signal(int, siginfo_t* info, void*) {
  const bool busy = ::syscall(SYS_gettid) == g_busy_tid.load();
  capture::ThreadClock& clock = busy ? g_busy : g_idle;
  if (!g_keeper->owns(clock, *info)) return void(g_foreign.fetch_add(1));
  if (g_keeper->wants(clock)) {
    g_weight.fetch_add(g_keeper->weight_ns(clock, *info));
    (busy ? g_samples : g_idle_samples).fetch_add(1);
  }
  g_keeper->rearm(clock);
}

TEST(Timekeeper, signals_threads_that_run_with_the_cpu_time_that_they_used) {
  if (kUnderSanitizer) GTEST_SKIP() << "a sanitizer delays signals";
  auto signal = linux::OwnedSignal::take(on_signal);
  ASSERT_TRUE(signal);
  Timekeeper keeper(signal->number(), micros(500));
  g_keeper = &keeper;
  g_busy_tid = ::gettid();
  std::atomic<bool> stop{false};
  std::atomic<pid_t> idle_tid{0};
  std::thread sleeper([&] {
    idle_tid = ::gettid();
    while (!stop) ::usleep(500);
  });
  while (idle_tid == 0) std::this_thread::yield();

  NoRepeats repeats;
  ASSERT_EQ(keeper.open(repeats), 0);
  ASSERT_EQ(keeper.start(::gettid(), g_busy), 0);
  ASSERT_EQ(keeper.start(idle_tid, g_idle), 0);
  const Nanos before = *linux::thread_cpu_time(::gettid());
  while (*linux::thread_cpu_time(::gettid()) - before < millis(300)) {
  }
  // The keeper may be starved on a loaded machine: go on until it has caught up.
  Nanos used;
  const Nanos deadline = monotonic_now() + seconds(20);
  do {
    used = *linux::thread_cpu_time(::gettid()) - before;
  } while (g_weight.load() < static_cast<uint64_t>(used.count) * 9 / 10 && monotonic_now() < deadline);
  keeper.stop(g_busy);
  keeper.stop(g_idle);
  keeper.close();
  stop = true;
  sleeper.join();

  EXPECT_GT(g_samples.load(), 20u);
  EXPECT_EQ(g_foreign.load(), 0u);
  const double share = static_cast<double>(g_weight.load()) / static_cast<double>(used.count);
  EXPECT_GE(share, 0.89);
  EXPECT_LT(share, 1.1);
  EXPECT_LT(g_idle_samples.load(), g_samples.load() / 4);
}

}  // namespace
}  // namespace tarsier::agent
