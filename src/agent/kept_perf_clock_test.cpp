#include "agent/engines/kept_perf_clock.h"

#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/under_sanitizer.h"
#include "linux/procfs.h"
#include "linux/signals.h"

namespace tarsier::agent {
namespace {

using capture::PerfClock;
using capture::ThreadClock;

constexpr Nanos kInterval = micros(500);

struct NoRepeats final : capture::Repeats {
  void repeat(const ThreadClock&, uint64_t, uint64_t) noexcept override {}
};

// What a thread of these tests is about.
enum Work : int { kNone, kFirst, kSecond, kWorks };

struct Worker {
  ThreadClock clock;
  std::atomic<int> work{kNone};
  std::array<uint64_t, kWorks> weight{};  // the handler's
  uint64_t samples = 0;
  Nanos used;
};

std::atomic<KeptPerfClock*> g_clock{nullptr};
thread_local Worker* t_worker = nullptr;

void on_signal(int, siginfo_t* info, void*) {
  KeptPerfClock* const clock = g_clock.load();
  Worker* const worker = t_worker;
  if (clock == nullptr || worker == nullptr) return;
  if (clock->owns(worker->clock, *info)) {
    worker->weight[static_cast<size_t>(worker->work.load())] += clock->weight_ns(worker->clock, *info);
    ++worker->samples;
  }
  clock->rearm(worker->clock);
}

void burn(Worker& worker, Work work, int turns) {
  worker.work = work;
  volatile int left = turns;
  while (left > 0) left = left - 1;
  worker.work = kNone;
}

// Two threads that hand over to each other. Each burns a bit, more than twice as much of something else, and lets the
// other one go on. Of `uneven` ones every 64th turn of the something else is as long as 64 of both.
class Pair {
 public:
  static constexpr int kFirstTurns = 1200, kSecondTurns = 2800, kTurns = 64;
  explicit Pair(bool uneven = false) : uneven_(uneven) {}

  void work(Worker& worker, int me, Nanos cpu) {
    const auto used = [] { return clock_now(CLOCK_THREAD_CPUTIME_ID); };
    const Nanos end = used() + cpu;
    for (int round = 0; turn_ != kOver && (round % kTurns != 0 || used() < end); ++round) {
      for (int turn = turn_; turn != me && turn != kOver; turn = turn_) {
        ::syscall(SYS_futex, &turn_, FUTEX_WAIT_PRIVATE, turn, nullptr, nullptr, 0);
      }
      burn(worker, kFirst, kFirstTurns);
      burn(worker, kSecond, kSecondTurns);
      if (uneven_ && round % kTurns == 0) burn(worker, kSecond, kTurns * (kFirstTurns + kSecondTurns));
      int mine = me;
      turn_.compare_exchange_strong(mine, 1 - me);
      wake();
    }
    turn_ = kOver;
    wake();
  }

 private:
  static constexpr int kOver = 2;
  void wake() { ::syscall(SYS_futex, &turn_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0); }

  const bool uneven_;
  std::atomic<int> turn_{0};
};

// Runs `work` in so many threads that the clock samples, while it is tended to as by the session's thread.
template <class Work>
void run_sampled(KeptPerfClock& clock, std::vector<Worker>& workers, Work&& work) {
  std::atomic<size_t> running{workers.size()};
  std::mutex registry;  // threads come and go one by one
  std::vector<std::thread> threads;
  threads.reserve(workers.size());
  for (size_t i = 0; i < workers.size(); ++i) {
    threads.emplace_back([&, i] {
      Worker& worker = workers[i];
      t_worker = &worker;
      const Nanos before = clock_now(CLOCK_THREAD_CPUTIME_ID);
      {
        const std::lock_guard guard(registry);
        EXPECT_EQ(clock.start(::gettid(), worker.clock), 0);
      }
      work(worker, static_cast<int>(i));
      worker.used = clock_now(CLOCK_THREAD_CPUTIME_ID) - before;
      const std::lock_guard guard(registry);
      clock.quieten(worker.clock);
      t_worker = nullptr;
      clock.stop(worker.clock);
      --running;
    });
  }
  while (running > 0) {
    clock.tend();
    ::usleep(2000);
  }
  for (std::thread& thread : threads) thread.join();
}

class KeptPerfClockTest : public testing::Test {
 protected:
  void SetUp() override {
    // Where only user mode may be seen nobody is spared.
    if (const int err = PerfClock::probe(true)) GTEST_SKIP() << "perf_event_open: " << errno_text(err);
    auto signal = linux::OwnedSignal::take(on_signal);
    ASSERT_TRUE(signal);
    signal_.emplace(std::move(*signal));
    clock_ = std::make_unique<KeptPerfClock>(
        PerfClock::Options{signal_->number(), static_cast<uint64_t>(kInterval.count), true});
    ASSERT_EQ(clock_->open(repeats_), 0);
    g_clock = clock_.get();
  }
  void TearDown() override {
    g_clock = nullptr;
    if (clock_ != nullptr) clock_->close();
  }

  [[nodiscard]] bool keeper_was_in_time(const std::vector<Worker>& workers) const {
    uint64_t samples = 0;
    for (const Worker& worker : workers) samples += worker.samples;
    return static_cast<uint64_t>(clock_->restless().late) < samples / 10;
  }

  NoRepeats repeats_;
  std::optional<linux::OwnedSignal> signal_;
  std::unique_ptr<KeptPerfClock> clock_;
};

// Samples of both threads stand for what they have used. Returns the share of the first kind of work.
double share_of_first(const std::vector<Worker>& workers) {
  uint64_t first = 0, second = 0;
  for (const Worker& worker : workers) {
    first += worker.weight[kFirst];
    second += worker.weight[kSecond];
    const double seen = static_cast<double>(worker.weight[kNone] + worker.weight[kFirst] + worker.weight[kSecond]) /
                        static_cast<double>(worker.used.count);
    EXPECT_GT(seen, 0.85);
    EXPECT_LT(seen, 1.1);
  }
  return static_cast<double>(first) / static_cast<double>(first + second);
}

// The same loop for both kinds of work, so the truth is how often it goes round. Chance makes 0.015 of difference.
TEST_F(KeptPerfClockTest, a_thread_that_switches_all_the_time_is_seen_as_often_as_it_deserves_wherever_it_is) {
  if (kUnderSanitizer) GTEST_SKIP() << "a sanitizer delays signals";
  std::vector<Worker> workers(2);
  Pair pair;
  run_sampled(*clock_, workers, [&](Worker& worker, int me) { pair.work(worker, me, millis(600)); });
  const double share = share_of_first(workers);
  EXPECT_GE(clock_->restless().threads, 2);
  if (!keeper_was_in_time(workers)) GTEST_SKIP() << "the keeper had no CPU when it wanted one";
  EXPECT_NEAR(share, 0.3, 0.08);
}

TEST_F(KeptPerfClockTest, long_turns_among_many_short_ones_are_seen_as_often_as_they_deserve) {
  if (kUnderSanitizer) GTEST_SKIP() << "a sanitizer delays signals";
  std::vector<Worker> workers(2);
  Pair pair(true);
  run_sampled(*clock_, workers, [&](Worker& worker, int me) { pair.work(worker, me, millis(600)); });
  const double share = share_of_first(workers);
  EXPECT_GE(clock_->restless().threads, 2);
  if (!keeper_was_in_time(workers)) GTEST_SKIP() << "the keeper had no CPU when it wanted one";
  EXPECT_NEAR(share, 0.15, 0.06);
}

TEST_F(KeptPerfClockTest, a_thread_that_has_come_to_rest_ticks_by_itself_again) {
  if (kUnderSanitizer) GTEST_SKIP() << "a sanitizer delays signals";
  std::vector<Worker> workers(2);
  Pair pair;
  run_sampled(*clock_, workers, [&](Worker& worker, int me) {
    pair.work(worker, me, millis(100));
    // It may be taken in only now, and on a machine with much to do the keeper comes by rarely.
    const Nanos begin = clock_now(CLOCK_THREAD_CPUTIME_ID);
    const auto burned = [&] { return clock_now(CLOCK_THREAD_CPUTIME_ID) - begin; };
    while (burned() < millis(200) || (worker.clock.restless.spared && burned() < seconds(5))) {
      burn(worker, kFirst, 100'000);
    }
  });
  EXPECT_GE(clock_->restless().threads, 2);
  for (const Worker& worker : workers) EXPECT_FALSE(worker.clock.restless.spared);
  EXPECT_GT(share_of_first(workers), 0.3);
}

TEST_F(KeptPerfClockTest, a_thread_that_runs_on_ticks_by_itself) {
  if (kUnderSanitizer) GTEST_SKIP() << "a sanitizer delays signals";
  std::vector<Worker> workers(1);
  run_sampled(*clock_, workers, [&](Worker& worker, int) {
    const Nanos end = clock_now(CLOCK_THREAD_CPUTIME_ID) + millis(100);
    while (clock_now(CLOCK_THREAD_CPUTIME_ID) < end) burn(worker, kFirst, 100'000);
  });
  EXPECT_FALSE(workers[0].clock.restless.spared);
  EXPECT_GT(workers[0].samples, 100u);
}

// Threads end while they ask for a keeper, while they are kept, and while they leave; also for the sanitizers.
TEST_F(KeptPerfClockTest, threads_may_end_at_any_moment) {
  for (int round = 0; round < 20; ++round) {
    std::vector<Worker> workers(4);
    Pair one, other;
    run_sampled(*clock_, workers, [&](Worker& worker, int me) {
      (me < 2 ? one : other).work(worker, me % 2, millis(3 + round));
      const Nanos end = clock_now(CLOCK_THREAD_CPUTIME_ID) + millis(round);
      while (me < 2 && clock_now(CLOCK_THREAD_CPUTIME_ID) < end) burn(worker, kFirst, 10'000);
    });
  }
}

}  // namespace
}  // namespace tarsier::agent
