#include "analysis/lock_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/lock_trace.h"

namespace tarsier::analysis {
namespace {

using ::testing::ElementsAre;

struct Profiled {
  LockCode code;
  AspectKeys keys;
  LockProfile profile;
  Profiled(const Model& model, std::vector<LockAspect> by, const Selection& selection = {})
      : code(model),
        keys(model, code, label_methods(model, false)),
        profile(lock_profile(model, code, selection, keys, std::move(by))) {}

  // "label ns count", indented, in order.
  [[nodiscard]] std::vector<std::string> rows(uint32_t node = 0) const {
    std::vector<std::string> lines;
    for (const uint32_t child : profile.nodes[node].children) {
      const LockNode& row = profile.nodes[child];
      lines.push_back(std::string(2 * (row.level - 1), ' ') + keys.label(profile.by[row.level - 1], row.key) + " " +
                      std::to_string(row.blocked_ns) + " " + std::to_string(row.contentions.count()));
      for (std::string& line : rows(child)) lines.push_back(std::move(line));
    }
    return lines;
  }
};

class LockProfiles : public ::testing::Test {
 protected:
  LockProfiles() {
    trace.exit(period, a, 30, 1, "main;holds:3");
    trace.enter(period, b, 10, 32, 2, "main;wants");
    trace.exit(period, b, 50, 3, "main;holds:4");
    trace.enter(period, c, 12, 51, 4, "other;main;wants").after_wait = true;
    trace.park(juc, c, 60, 70, 1, 2, "main;java.util.concurrent.locks.ReentrantLock.lock").owner = b;
    trace.park(queue, a, 0, 100, 3, 4, "main;take");
  }

  LockTrace trace;
  ThreadIndex a = trace.thread("A"), b = trace.thread("B"), c = trace.thread("C");
  LockIndex monitor = trace.lock("p.Lock", 0x12ab);
  LockIndex juc = trace.lock("java.util.concurrent.locks.ReentrantLock$NonfairSync", 0x34);
  LockIndex queue = trace.lock("java.util.concurrent.SynchronousQueue", 0x56);
  MonitorPeriod period = trace.period(monitor, 1);
};

TEST_F(LockProfiles, break_down_by_any_sequence_of_aspects) {
  const Profiled by_class(trace.model, {LockAspect::kClass, LockAspect::kOwnerMethod});
  EXPECT_THAT(by_class.rows(),
              ElementsAre("p.Lock 61 2", "  holds 56 2", "  [hand-off] 5 2",
                          "java.util.concurrent.locks.ReentrantLock$NonfairSync 10 1", "  [no chain] 10 1"));
  EXPECT_THAT(
      Profiled(trace.model, {LockAspect::kOwnerThread, LockAspect::kBlockedThread}).rows(),
      ElementsAre("A 38 2", "  B 20 1", "  C 18 1", "B 28 2", "  C 28 2", "[hand-off] 5 2", "  C 3 1", "  B 2 1"));
  EXPECT_THAT(Profiled(trace.model, {LockAspect::kObject, LockAspect::kAfterWait}).rows(),
              ElementsAre("p.Lock@12ab 61 2", "  after wait 39 1", "  not after wait 22 1",
                          "java.util.concurrent.locks.ReentrantLock$NonfairSync@34 10 1", "  not after wait 10 1"));
  EXPECT_THAT(Profiled(trace.model, {LockAspect::kBlockedChain}).rows(),
              ElementsAre("wants < main < other 39 1", "wants < main 22 1", "main 10 1"));
}

TEST_F(LockProfiles, only_locks_unless_groups_are_asked_for) {
  EXPECT_THAT(Profiled(trace.model, {LockAspect::kGroup}).rows(),
              ElementsAre("other 100 1", "monitor 61 2", "juc 10 1"));
  const Profiled locks(trace.model, {LockAspect::kBlockedThread});
  EXPECT_EQ(locks.profile.total(), 71);
  EXPECT_THAT(locks.profile.by_group, ElementsAre(61, 10, 0, 100));
  EXPECT_THAT(locks.profile.by_owner, ElementsAre(56, 10, 5, 0));
}

TEST_F(LockProfiles, of_a_part_of_the_time_only_that_part_counts) {
  const auto part = Selection::make(trace.model, {.from = Nanos(20), .to = Nanos(31)});
  ASSERT_TRUE(part.ok());
  EXPECT_THAT(trace.contentions(*part),
              ElementsAre("A 20 unknown 31", "B 20 A:holds 30 hand-off 31", "C after wait 20 A:holds 30 hand-off 31"));
  const auto of_b = Selection::make(trace.model, {.thread_regex = "B"});
  EXPECT_THAT(trace.contentions(*of_b), ElementsAre("B 10 A:holds 30 hand-off 32"));
}

TEST(DurationSpread, tells_few_durations_exactly_and_many_within_3_percent) {
  DurationSpread few;
  for (const int64_t ns : {5, 1'000'000, 70}) few.add(ns);
  EXPECT_EQ(few.percentile(0.5), 70);
  EXPECT_EQ(few.percentile(0.95), 1'000'000);
  EXPECT_EQ(few.max(), 1'000'000);
  EXPECT_EQ(few.mean(), 333'358);
  DurationSpread many;
  for (int64_t i = 1; i <= 100'000; ++i) many.add(i * 1000);
  EXPECT_NEAR(static_cast<double>(many.percentile(0.5)), 50e6, 50e6 * 0.03);
  EXPECT_NEAR(static_cast<double>(many.percentile(0.95)), 95e6, 95e6 * 0.03);
  EXPECT_EQ(many.count(), 100'000U);
  DurationSpread extreme;
  for (const int64_t ns : {int64_t{0}, int64_t{1} << 61}) extreme.add(ns);
  EXPECT_EQ(extreme.percentile(1), int64_t{1} << 61);
  EXPECT_EQ(DurationSpread().percentile(0.5), 0);
}

}  // namespace
}  // namespace tarsier::analysis
