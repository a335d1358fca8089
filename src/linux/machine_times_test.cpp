#include "linux/machine_times.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "linux/steal_in_cpu_time.h"
#include "linux/thread_usage.h"

namespace tarsier::linux {
namespace {

constexpr const char* kStat =
    "cpu  100 20 30 400 50 6 7 80 0 0\n"
    "cpu0 100 20 30 400 50 6 7 80 0 0\n"
    "intr 12 0 0\n";

TEST(MachineTimes, are_the_sums_of_what_the_kernel_counts) {
  const auto times = parse_machine_times(kStat);
  ASSERT_TRUE(times);
  const int64_t tick = machine_tick().count;
  EXPECT_EQ(times->busy.count, (100 + 20 + 30 + 6 + 7) * tick);
  EXPECT_EQ(times->idle.count, (400 + 50) * tick);
  EXPECT_EQ(times->steal.count, 80 * tick);
}

TEST(MachineTimes, of_old_kernels_have_no_steal) {
  const auto times = parse_machine_times("cpu  1 2 3 4\n");
  ASSERT_TRUE(times);
  EXPECT_EQ(times->steal.count, 0);
}

TEST(MachineTimes, are_nothing_if_the_text_is_something_else) {
  for (const char* text : {"", "cpu", "cpu ", "cpu  1 2 x 4 5", "cpu0 1 2 3 4 5 6 7 8", "cpu  -1 2 3 4 5 6 7 8",
                           "cpu  99999999999999999999 2 3 4", "\n"}) {
    EXPECT_FALSE(parse_machine_times(text)) << text;
  }
}

TEST(MachineTimes, tell_what_was_stolen_from_each_cpu) {
  const int64_t tick = machine_tick().count;
  const auto stolen = parse_cpu_steal(
      "cpu  1 2 3 4 5 6 7 99 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\ncpu3 1 2 3 4 5 6 7 9 0 0\nintr 12\ncpu1 1 2 3 4 5 6 7 8\n");
  ASSERT_EQ(stolen.size(), 4U);
  EXPECT_EQ(stolen[0].count, 8 * tick);
  EXPECT_EQ(stolen[1].count, 0);
  EXPECT_EQ(stolen[3].count, 9 * tick);
  EXPECT_TRUE(parse_cpu_steal("").empty());
  EXPECT_TRUE(parse_cpu_steal("cpu").empty());
  EXPECT_TRUE(parse_cpu_steal("cpux 1 2 3 4\ncpu-1 1 2 3 4\ncpu99999999999 1 2 3 4\ncpu2 1 x").empty());
}

TEST(MachineClock, reads_below_the_root_it_is_given) {
  const std::filesystem::path root =
      std::filesystem::temp_directory_path() / ("tarsier-root-" + std::to_string(::getpid()));
  std::filesystem::create_directories(root);
  std::ofstream(root / "stat") << kStat;
  auto clock = MachineClock::open(root);
  ASSERT_TRUE(clock.ok());
  EXPECT_EQ(clock->read()->steal.count, 80 * machine_tick().count);
  std::ofstream(root / "stat") << "cpu  100 20 30 400 50 6 7 81 0 0\n";
  EXPECT_EQ(clock->read()->steal.count, 81 * machine_tick().count);
  std::ofstream(root / "stat") << "nonsense";
  EXPECT_FALSE(clock->read());
  std::filesystem::remove_all(root);
  EXPECT_FALSE(MachineClock::open(root).ok());
}

TEST(MachineClock, of_this_machine_goes_on) {
  auto clock = MachineClock::open();
  ASSERT_TRUE(clock.ok());
  const auto first = clock->read();
  ASSERT_TRUE(first);
  EXPECT_GT(first->busy.count, 0);
  const auto second = clock->read();
  EXPECT_GE(second->busy, first->busy);
}

TEST(StealInCpuTime, is_said_by_the_configuration) {
  EXPECT_EQ(excluded_by_config("CONFIG_HZ=250\nCONFIG_PARAVIRT_TIME_ACCOUNTING=y\n"), true);
  EXPECT_EQ(excluded_by_config("CONFIG_HZ=250\n# CONFIG_PARAVIRT_TIME_ACCOUNTING is not set\n"), false);
  EXPECT_FALSE(excluded_by_config("<html>").has_value());
}

TEST(StealInCpuTime, is_found_by_the_types_of_the_kernel_below_a_root) {
  const std::filesystem::path root =
      std::filesystem::temp_directory_path() / ("tarsier-btf-" + std::to_string(::getpid()));
  std::filesystem::create_directories(root / "sys/kernel/btf");
  // Across the border of two pieces, and as a part of a longer name.
  const std::string padding((256 << 10) - 7, 'x');
  std::ofstream(root / "sys/kernel/btf/vmlinux") << padding << '\0' << "prev_steal_time_rq" << '\0' << "rest";
  EXPECT_FALSE(find_steal_in_cpu_time(root).included);
  std::ofstream(root / "sys/kernel/btf/vmlinux") << padding << '\0' << "prev_steal_time_rqs" << '\0' << "rest";
  EXPECT_TRUE(find_steal_in_cpu_time(root).included);
  std::filesystem::remove_all(root);
  const StealInCpuTime assumed = find_steal_in_cpu_time(root);
  EXPECT_FALSE(assumed.included);
  EXPECT_NE(assumed.why.find("assumed"), std::string::npos);
}

TEST(StealInCpuTime, is_proved_by_more_than_all_cpus_were_busy) {
  EXPECT_TRUE(proves_inclusion(seconds(10), seconds(5), seconds(5), seconds(1)));
  EXPECT_FALSE(proves_inclusion(seconds(5), seconds(5), seconds(5), seconds(1)));
  EXPECT_FALSE(proves_inclusion(seconds(6), seconds(5), seconds(5), seconds(1)));
}

TEST(ThreadUsage, is_read_from_four_files) {
  ThreadUsage usage;
  parse_thread_stat("77 (a) b) (c) S 1 2 3 4 5 6 1001 8 1003 10 150 50 17 18 19", usage);
  EXPECT_EQ(usage.minor_faults, 1001);
  EXPECT_EQ(usage.major_faults, 1003);
  EXPECT_EQ(usage.user->count, 150 * machine_tick().count);
  EXPECT_EQ(usage.system->count, 50 * machine_tick().count);
  parse_thread_schedstat("123456789 4242 17\n", usage);
  EXPECT_EQ(usage.cpu->count, 123456789);
  EXPECT_EQ(usage.queued->count, 4242);
  // The name, in the first line, may look like one of the others.
  parse_thread_status(
      "Name:\tvoluntary_ctxt_switches:\t7\nvoluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t34\n", usage);
  EXPECT_EQ(usage.voluntary_switches, 12);
  EXPECT_EQ(usage.involuntary_switches, 34);
  parse_thread_sched("x (1, #threads: 1)\n---\nse.nr_migrations                             :    56\n", usage);
  EXPECT_EQ(usage.migrations, 56);
}

TEST(ThreadUsage, is_unknown_where_the_kernel_does_not_tell) {
  ThreadUsage usage;
  parse_thread_stat("", usage);
  parse_thread_stat("77 (x", usage);
  parse_thread_stat("77 (x) S 1", usage);
  parse_thread_schedstat("0 0 0\n", usage);
  parse_thread_schedstat("nonsense", usage);
  parse_thread_status("Name:\tx\n", usage);
  parse_thread_sched("", usage);
  EXPECT_FALSE(usage.cpu || usage.user || usage.system || usage.queued || usage.voluntary_switches ||
               usage.minor_faults || usage.migrations);
}

TEST(ThreadUsage, of_this_thread_and_of_one_that_does_not_exist) {
  const ThreadUsages usages;
  const auto usage = usages.of(::gettid());
  ASSERT_TRUE(usage);
  EXPECT_TRUE(usage->user && usage->system && usage->voluntary_switches && usage->minor_faults);
  EXPECT_FALSE(usages.of(0));
  EXPECT_TRUE(usages.of_current(false).minor_faults);
}

}  // namespace
}  // namespace tarsier::linux
