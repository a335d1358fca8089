// Waits that only a thread of the same process can end: their stacks are left to that one. And waits that are only
// counted.
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>

#include "agent/kernel_waits_for_test.h"

namespace tarsier::agent {
namespace {

using namespace kernel_waits_for_test;

// A thread that sleeps on a futex of the process's own until it is let go, again and again.
class FutexSleeper {
 public:
  FutexSleeper() {
    struct sigaction action {};
    action.sa_handler = [](int) {};
    ::sigaction(SIGUSR1, &action, nullptr);
    thread_ = std::thread([this] {
      tid_.store(::gettid());
      for (uint32_t seen = 0; !over_.load(); seen = word_.load()) {
        ::syscall(SYS_futex, &word_, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
      }
    });
    wait_until_asleep();
  }
  ~FutexSleeper() {
    over_.store(true);
    wake();
    thread_.join();
  }
  void wake() {
    word_.fetch_add(1);
    ::syscall(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }
  void wake_and_sleep() {
    wake();
    wait_until_asleep();
  }
  void wait_until_asleep() {
    while (tid_.load() == 0 || linux::thread_state(tid_.load()) != 'S') std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
  }
  [[nodiscard]] pid_t tid() const { return tid_.load(); }

 private:
  std::atomic<pid_t> tid_{0};
  std::atomic<uint32_t> word_{0};
  std::atomic<bool> over_{false};
  std::thread thread_;
};

class LeftToWakerTest : public KernelWaitsTest {
 protected:
  void start() {
    load();
    if (IsSkipped()) return;
    ASSERT_TRUE(waits_->thread_started(described(sleeper_.tid())));
    sleeper_.wake_and_sleep();  // what it has slept since before is no wait that the programs have seen begin
    (void)waits_->changed_times();
    (void)read();
    before_ = stats().taken;
  }
  // The programs see a thread come a moment after it was woken, and on a busy machine much later.
  std::vector<Wait> read_some(size_t count) {
    std::vector<Wait> all;
    const Nanos end = monotonic_now() + seconds(20);
    while (all.size() < count && monotonic_now() < end) {
      const auto more = of_thread(42);
      all.insert(all.end(), more.begin(), more.end());
      std::this_thread::yield();
    }
    return all;
  }

  FutexSleeper sleeper_;
  uint64_t before_ = 0;
};

TEST_F(LeftToWakerTest, the_stack_is_that_of_the_moment_in_which_it_is_woken) {
  start();
  if (IsSkipped()) return;
  // It could not change while the thread sleeps. Here it does, and shows who has read it, and when.
  constexpr uint64_t kLate = 0xabcdef0987654321;
  room_[kAnchor + 51] = kLate;
  const Nanos woken = monotonic_now();
  sleeper_.wake();
  const auto waits = read_some(1);
  ASSERT_EQ(waits.size(), 1u);
  const Wait& wait = waits[0];
  EXPECT_TRUE(wait.has_witness());
  EXPECT_NE(std::find(wait.stack.begin(), wait.stack.end(), kLate), wait.stack.end());
  EXPECT_TRUE(wait.header.waits);
  EXPECT_FALSE(wait.header.kept || wait.header.ongoing || wait.header.blocked);
  EXPECT_GE(wait.header.weight_ns, 2'000'000u);
  EXPECT_GE(static_cast<int64_t>(wait.header.time_ns + wait.header.weight_ns), woken.count);
  EXPECT_EQ(wait.fragment.anchor.pc, 0x222u);
  EXPECT_EQ(stats().taken, before_ + 1);
  EXPECT_EQ(stats().dropped_in_all(), 0u);
}

TEST_F(LeftToWakerTest, the_account_is_that_of_the_waits) {
  start();
  if (IsSkipped()) return;
  constexpr size_t kTimes = 20;
  for (size_t i = 0; i < kTimes; ++i) sleeper_.wake_and_sleep();
  Nanos slept;
  const auto waits = read_some(kTimes);
  ASSERT_EQ(waits.size(), kTimes);
  for (const Wait& wait : waits) slept += Nanos(static_cast<int64_t>(wait.header.weight_ns));
  waits_->stop();
  ThreadTimes all = times();
  EXPECT_EQ(all.of(TimePart::kWaits).count, kTimes);
  EXPECT_EQ(all.of(TimePart::kWaits).time, slept);
  EXPECT_EQ(all.of(TimePart::kMissedWaits).count, 0u);
  EXPECT_EQ(stats().taken, before_ + kTimes);
}

TEST_F(LeftToWakerTest, what_goes_on_at_the_end_is_copied_from_outside) {
  start();
  if (IsSkipped()) return;
  sleep_for(millis(5));
  waits_->stop();
  while (waits_->close_one()) {
  }
  const auto waits = read_some(2);
  ASSERT_EQ(waits.size(), 2u) << "first the stack, then the end";
  EXPECT_TRUE(waits[0].header.kept);
  EXPECT_TRUE(waits[0].has_witness());
  EXPECT_TRUE(waits[1].header.ongoing && waits[1].header.repeated);
  EXPECT_GE(waits[1].header.weight_ns, 5'000'000u);
  EXPECT_EQ(stats().taken, before_ + 1);
  EXPECT_EQ(stats().dropped_in_all(), 0u);
}

TEST_F(LeftToWakerTest, one_that_has_run_after_the_end_is_not_taken_for_what_it_was) {
  start();
  if (IsSkipped()) return;
  waits_->stop();
  sleeper_.wake_and_sleep();  // nobody looks any more
  while (waits_->close_one()) {
  }
  EXPECT_TRUE(of_thread(42).empty());
  EXPECT_EQ(stats().dropped["over before the stack was read"], 1u);
  EXPECT_EQ(stats().taken, before_ + 1);
}

TEST_F(LeftToWakerTest, whom_another_process_wakes_is_counted_and_copies_its_own_stack_from_then_on) {
  start();
  if (IsSkipped()) return;
  const pid_t self = ::getpid(), tid = sleeper_.tid();
  const pid_t child = ::fork();
  if (child == 0) {
    ::syscall(SYS_tgkill, self, tid, SIGUSR1);
    ::_exit(0);
  }
  ASSERT_GT(child, 0);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  sleep_until([&] { return stats().dropped_in_all() > 0; });
  EXPECT_EQ(stats().dropped["ended by another process before the stack was read"], 1u);
  sleeper_.wait_until_asleep();
  constexpr uint64_t kLate = 0xabcdef0987654321;
  room_[kAnchor + 51] = kLate;
  sleeper_.wake();
  const auto waits = read_some(1);
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_TRUE(waits[0].has_witness());
  EXPECT_EQ(std::find(waits[0].stack.begin(), waits[0].stack.end(), kLate), waits[0].stack.end());
  EXPECT_EQ(stats().taken, before_ + 1 + stats().dropped_in_all());
}

TEST_F(LeftToWakerTest, waits_that_are_left_out_are_in_the_account_and_counted) {
  start();
  if (IsSkipped()) return;
  constexpr size_t kTimes = 20;
  waits_->keep_share(0);
  sleeper_.wake_and_sleep();  // this one had begun before
  (void)read_some(1);
  for (size_t i = 0; i < kTimes; ++i) sleeper_.wake_and_sleep();
  EXPECT_TRUE(of_thread(42).empty());
  EXPECT_EQ(stats().dropped["left out to keep the cost down"], kTimes);
  EXPECT_EQ(times().of(TimePart::kMissedWaits).count, kTimes);
  waits_->keep_share(1);
  sleeper_.wake_and_sleep();  // see above
  sleeper_.wake();
  EXPECT_EQ(read_some(1).size(), 1u);
}

// Nobody looks when such a wait ends: what it was, and what the run queue, is the kernel's to tell, once the thread
// leaves its CPU again, or the agent asks.
class LeftOutTest : public KernelWaitsTest {
 protected:
  void start(const WaitLimits& limits = {micros(100), Nanos(0)}) {
    load(limits);
    if (!IsSkipped()) waits_->keep_share(0);
  }
  const linux::ThreadSchedules schedules_;
};

TEST_F(LeftOutTest, each_is_counted_once_the_last_one_of_a_thread_that_runs_as_well) {
  start();
  if (IsSkipped()) return;
  const JavaThread self = described(::gettid());
  ASSERT_TRUE(waits_->thread_started(self));
  const uint64_t before = schedules_.of(::gettid())->waits;
  for (int i = 0; i < 20; ++i) sleep_for(millis(2));
  const uint64_t slept = schedules_.of(::gettid())->waits - before;
  ThreadTimes now = times();
  const auto count = [&] { return now.of(TimePart::kMissedWaits).count + now.of(TimePart::kShortWaits).count; };
  // Files of the kernel's that are read may make it sleep, too.
  EXPECT_GE(count(), slept);
  EXPECT_LE(count(), slept + 4);
  const uint64_t counted = count();
  waits_->thread_ended(self);
  now = times();
  EXPECT_GE(count(), counted);
  EXPECT_LE(count(), counted + 4);
  EXPECT_EQ(stats().taken, now.of(TimePart::kMissedWaits).count);
  EXPECT_EQ(stats().dropped["left out to keep the cost down"], stats().taken);
  EXPECT_TRUE(read().empty());
}

TEST_F(LeftOutTest, time_in_the_run_queue_is_none_of_the_wait) {
  start();
  if (IsSkipped()) return;
  std::atomic<bool> over{false};
  const auto stay_on_one_cpu = [] {
    cpu_set_t one, mine;
    CPU_ZERO(&one);
    ASSERT_EQ(::sched_getaffinity(0, sizeof(mine), &mine), 0);
    for (int cpu = CPU_SETSIZE - 1; cpu >= 0 && CPU_COUNT(&one) == 0; --cpu) {
      if (CPU_ISSET(cpu, &mine)) CPU_SET(cpu, &one);
    }
    ASSERT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);
  };
  std::thread burner([&] {
    stay_on_one_cpu();
    while (!over.load()) {
    }
  });
  Nanos queued, life;
  ThreadTimes all;
  std::thread([&] {
    stay_on_one_cpu();
    const auto tid = static_cast<id_t>(::gettid());
    ASSERT_EQ(::setpriority(PRIO_PROCESS, tid, 15), 0);  // who burns goes first
    const JavaThread self = described(::gettid());
    ASSERT_TRUE(waits_->thread_started(self));
    const Nanos began = monotonic_now(), before = schedules_.of(::gettid())->queued;
    for (int i = 0; i < 30 && queued < millis(100); ++i) {
      sleep_for(millis(2));
      queued = schedules_.of(::gettid())->queued - before;
    }
    life = monotonic_now() - began;
    all = times();
    waits_->thread_ended(self);
  }).join();
  over.store(true);
  burner.join();
  EXPECT_GT(all.of(TimePart::kMissedWaits).count, 0u);
  // As far apart as what passes between the readings.
  EXPECT_LT(std::abs((all.of(TimePart::kQueue).time - queued).count), millis(20).count + life.count / 20);
  EXPECT_LT(all.of(TimePart::kMissedWaits).time + all.of(TimePart::kShortWaits).time,
            life - queued + millis(20) + life / 20);
}

TEST_F(LeftOutTest, one_that_is_too_short_or_too_long_is_in_the_sum_for_these) {
  start({millis(20), millis(60)});
  if (IsSkipped()) return;
  const JavaThread self = described(::gettid());
  ASSERT_TRUE(waits_->thread_started(self));
  for (int i = 0; i < 10; ++i) sleep_for(millis(1));
  sleep_for(millis(120));
  ThreadTimes now = times();
  EXPECT_GT(now.of(TimePart::kShortWaits).count, 0u);
  EXPECT_EQ(now.of(TimePart::kLongWaits).count, 1u) << "it is on its CPU: the programs have not booked it yet";
  EXPECT_GT(now.of(TimePart::kLongWaits).time, millis(60));
  waits_->thread_ended(self);
  EXPECT_EQ(times().of(TimePart::kLongWaits).count, 1u);
}

}  // namespace
}  // namespace tarsier::agent
