#include "agent/steal_account.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <random>
#include <vector>

#include "base/unique_fd.h"
#include "linux/thread_usage.h"

namespace tarsier::agent {
namespace {

constexpr int64_t kMs = 1'000'000;

std::vector<Nanos> nanos(std::initializer_list<int64_t> values) {
  std::vector<Nanos> all;
  for (const int64_t value : values) all.emplace_back(value);
  return all;
}

// Hofer's example: three threads on three CPUs, two of which are suspended for 5 of 10 units of time.
TEST(StealAccount, splits_the_example_of_the_research) {
  std::vector<Nanos> stolen(3);
  EXPECT_EQ(split_steal(Nanos(10'000), Nanos(20'000), nanos({10'000, 9'000, 1'000}), stolen), Nanos(10'000));
  EXPECT_EQ(stolen, nanos({5'000, 4'500, 500}));
}

TEST(StealAccount, gives_others_their_part) {
  std::vector<Nanos> stolen(1);
  StealAccount account({Nanos(0), Nanos(0), Nanos(0)}, Nanos(0));
  account.look({Nanos(400 * kMs), Nanos(100 * kMs), Nanos(100 * kMs)});
  account.settle(Nanos(0), nanos({100 * kMs}), stolen);
  EXPECT_EQ(stolen[0], Nanos(25 * kMs));
  EXPECT_EQ(account.sums().of_others, Nanos(75 * kMs));
  EXPECT_EQ(account.sums().of_nobody, Nanos(0));
  EXPECT_EQ(account.sums().idle, Nanos(100 * kMs));
}

TEST(StealAccount, of_a_kernel_that_counts_stolen_time_as_cpu_time) {
  std::vector<Nanos> stolen(1);
  StealAccount account({Nanos(0), Nanos(0), Nanos(0)}, Nanos(0));
  account.set_included(true);
  // 300 ms of work, 100 ms stolen, of which a thread that appears to have used 200 ms has half.
  account.look({Nanos(300 * kMs), Nanos(0), Nanos(100 * kMs)});
  account.settle(Nanos(0), nanos({200 * kMs}), stolen);
  EXPECT_EQ(stolen[0], Nanos(50 * kMs));
}

TEST(StealAccount, without_steal_there_is_none) {
  std::vector<Nanos> stolen(2);
  StealAccount account({Nanos(0), Nanos(0), Nanos(7)}, Nanos(0));
  account.look({Nanos(400 * kMs), Nanos(0), Nanos(7)});
  account.settle(Nanos(0), nanos({100 * kMs, 0}), stolen);
  EXPECT_EQ(stolen, nanos({0, 0}));
  EXPECT_EQ(account.sums().stolen, Nanos(0));
}

TEST(StealAccount, what_nobody_had_remains_and_clocks_that_go_back_stand_still) {
  std::vector<Nanos> stolen(1);
  StealAccount account({Nanos(50), Nanos(50), Nanos(50)}, Nanos(0));
  account.look({Nanos(0), Nanos(0), Nanos(0)});
  account.settle(Nanos(0), nanos({0}), stolen);
  EXPECT_EQ(account.sums().stolen, Nanos(0));
  account.look({Nanos(50), Nanos(50), Nanos(150)});
  account.settle(Nanos(0), nanos({0}), stolen);
  EXPECT_EQ(stolen[0], Nanos(0));
  EXPECT_EQ(account.sums().of_nobody, Nanos(100));
}

TEST(StealAccount, adds_up_exactly_whatever_comes) {
  std::mt19937_64 random(4711);
  StealAccount account({Nanos(0), Nanos(0), Nanos(0)}, Nanos(0));
  linux::MachineTimes times{Nanos(0), Nanos(0), Nanos(0)};
  Nanos of_threads;
  for (int round = 0; round < 1000; ++round) {
    times.busy += Nanos(static_cast<int64_t>(random() % (20 * kMs)));
    times.steal += Nanos(static_cast<int64_t>(random() % (20 * kMs)));
    std::vector<Nanos> cpu(random() % 7), stolen(cpu.size());
    for (Nanos& each : cpu) each = Nanos(static_cast<int64_t>(random() % (10 * kMs)));
    account.set_included(random() % 2 == 0);
    account.look(times);
    account.settle(Nanos(0), cpu, stolen);
    of_threads = std::accumulate(stolen.begin(), stolen.end(), of_threads);
    EXPECT_TRUE(std::all_of(stolen.begin(), stolen.end(), [](Nanos each) { return each.count >= 0; }));
  }
  const StealAccount::Sums& sums = account.sums();
  EXPECT_EQ(sums.of_threads, of_threads);
  EXPECT_EQ(sums.stolen, times.steal);
  EXPECT_EQ(sums.stolen, sums.of_threads + sums.of_others + sums.of_nobody);
  EXPECT_GE(sums.of_nobody.count, 0);
}

// The pattern benchmark of the study, played in steps of a millisecond on four virtual CPUs, and told as the kernel
// would tell it, in the files of a made-up /proc: six threads, four of which work and wait in turns, one works on and
// on, one works and waits as chance has it; thirty more that are idle; and a process beside it. The hypervisor takes
// CPUs away in phases.
class PatternBenchmark {
 public:
  static constexpr int kThreads = 36, kCpus = 4;

  explicit PatternBenchmark(bool included)
      : included_(included),
        root_(std::filesystem::temp_directory_path() / ("tarsier-pattern-" + std::to_string(::getpid()))) {
    for (int t = 0; t < kThreads; ++t) {
      const std::filesystem::path task = root_ / "self/task" / std::to_string(100 + t);
      std::filesystem::create_directories(task);
      schedstats_[t] = make(task / "schedstat");
      put(make(task / "stat"), "1 (t) S 0");
    }
    stat_ = make(root_ / "stat");
    write();
  }
  ~PatternBenchmark() { std::filesystem::remove_all(root_); }

  [[nodiscard]] std::string root() const { return root_; }
  [[nodiscard]] Nanos truth(int thread) const { return truth_[thread]; }
  [[nodiscard]] Nanos stolen() const { return steal_; }

  void play_a_millisecond() {
    ++now_;
    int cpu = 0;
    for (int i = 0; i <= kThreads && cpu < kCpus; ++i) {
      const int t = static_cast<int>((i + now_) % (kThreads + 1));  // nobody is always the first
      if (t == kThreads ? now_ % 3 == 0 : !wants_to_run(t)) continue;
      const bool stolen = takes(cpu++);
      (stolen ? steal_ : busy_) += Nanos(kMs);
      if (t == kThreads) continue;  // the other process
      if (!stolen) truth_[t] += Nanos(kMs);
      if (!stolen || included_) apparent_[t] += Nanos(kMs);
      if (!stolen) progress(t);
    }
    idle_ += Nanos((kCpus - cpu) * kMs);
  }

  // Always as long as before: a file that is cut and written anew takes a disk's time.
  void write() const {
    const int64_t tick = linux::machine_tick().count;
    char text[128];
    std::snprintf(text, sizeof(text), "cpu  %012ld 0 0 %012ld 0 0 0 %012ld 0 0\n", busy_.count / tick,
                  idle_.count / tick, steal_.count / tick);
    put(stat_, text);
    for (int t = 0; t < kThreads; ++t) {
      std::snprintf(text, sizeof(text), "%015ld 0 1\n", apparent_[t].count);
      put(schedstats_[t], text);
    }
  }

 private:
  static unique_fd make(const std::filesystem::path& path) {
    return unique_fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  }
  static void put(const unique_fd& file, std::string_view text) {
    ASSERT_EQ(::pwrite(file.get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  }
  // Half of the time in phases of 1.7 s, a quarter in the others; not the same for all CPUs.
  [[nodiscard]] bool takes(int cpu) {
    const uint64_t often = now_ / 1700 % 2 == 0 ? 2 : 4;
    return (random_() + static_cast<uint64_t>(cpu)) % often == 0;
  }
  [[nodiscard]] bool wants_to_run(int t) const { return t == 4 || (t < 6 && now_ >= sleeps_until_[t]); }
  void progress(int t) {
    constexpr std::array<int64_t, 4> kWork = {20, 50, 400, 1000}, kWait = {60, 100, 400, 1500};  // ms
    if (t == 4 || t >= 6) return;
    if (++worked_[t] < (t < 4 ? kWork[t] : next_)) return;
    worked_[t] = 0;
    sleeps_until_[t] = now_ + (t < 4 ? kWait[t] : static_cast<int64_t>(random_() % 100));
    if (t == 5) next_ = 1 + static_cast<int64_t>(random_() % 100);
  }

  const bool included_;
  const std::filesystem::path root_;
  unique_fd stat_;
  std::array<unique_fd, kThreads> schedstats_;
  std::mt19937_64 random_{7};
  int64_t now_ = 0, next_ = 30;
  Nanos busy_, idle_, steal_;
  std::array<Nanos, kThreads> truth_{}, apparent_{};
  std::array<int64_t, kThreads> worked_{}, sleeps_until_{};
};

class StealOfPatterns : public testing::TestWithParam<std::tuple<bool, int>> {};

TEST_P(StealOfPatterns, are_found_within_a_few_percent) {
  const auto [included, interval_ms] = GetParam();
  PatternBenchmark benchmark(included);
  auto clock = linux::MachineClock::open(benchmark.root());
  ASSERT_TRUE(clock.ok());
  const linux::ThreadUsages usages(benchmark.root() + "/self");
  StealAccount account(*clock->read(), Nanos(0));
  account.set_included(included);

  constexpr int kThreads = PatternBenchmark::kThreads;
  std::vector<Nanos> last(kThreads), unsettled(kThreads), steal(kThreads);
  for (int64_t ms = 1; ms <= 60'000; ++ms) {
    benchmark.play_a_millisecond();
    if (ms % interval_ms != 0) continue;
    benchmark.write();
    for (int t = 0; t < kThreads; ++t) {
      const Nanos cpu = *usages.of(100 + t)->cpu;
      unsettled[t] += cpu - last[t];
      last[t] = cpu;
    }
    account.look(*clock->read());
    const Nanos now(ms * kMs);
    if (!account.is_due(now)) continue;
    std::vector<Nanos> out(kThreads);
    account.settle(now, unsettled, out);
    for (int t = 0; t < kThreads; ++t) steal[t] += out[t];
    std::fill(unsettled.begin(), unsettled.end(), Nanos(0));
  }
  const StealAccount::Sums& sums = account.sums();
  EXPECT_GT(sums.stolen.count, 10'000 * kMs);
  EXPECT_LE(std::abs((sums.stolen - benchmark.stolen()).count), linux::machine_tick().count);
  EXPECT_EQ(sums.stolen, sums.of_threads + sums.of_others + sums.of_nobody);
  for (int t = 0; t < 6; ++t) {
    const bool bursty = t < 2 || t == 5;
    const Nanos corrected = included ? last[t] - steal[t] : last[t];
    const double ratio = static_cast<double>(corrected.count) / static_cast<double>(benchmark.truth(t).count);
    EXPECT_NEAR(ratio, 1, bursty ? 0.10 : 0.05) << "thread " << t + 1;
    // Who suffered: what it lost is its part of what was stolen.
    const double lost = static_cast<double>(steal[t].count) / static_cast<double>(benchmark.truth(t).count);
    EXPECT_GT(lost, 0.3) << "thread " << t + 1;
  }
  for (int t = 6; t < kThreads; ++t) EXPECT_EQ(steal[t], Nanos(0));
}

INSTANTIATE_TEST_SUITE_P(BothKindsOfKernel, StealOfPatterns,
                         testing::Combine(testing::Bool(), testing::Values(1000, 100, 10)));

}  // namespace
}  // namespace tarsier::agent
