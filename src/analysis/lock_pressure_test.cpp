#include "analysis/lock_pressure.h"

#include <gtest/gtest.h>

#include "analysis/lock_trace.h"

namespace tarsier::analysis {
namespace {

class LockPressureTest : public ::testing::Test {
 protected:
  LockPressureTest() {
    trace.model.duration = Nanos(6000);  // slices of 100
    trace.exit(period, a, 250, 1, "main;a");
    trace.enter(period, b, 150, 250, 2);
  }
  LockTrace trace;
  ThreadIndex a = trace.thread("A"), b = trace.thread("B"), c = trace.thread("C");
  LockIndex lock = trace.lock("p.Lock", 1);
  MonitorPeriod period = trace.period(lock, 1);

  LockPressure pressure(const Selection& selection = {}) const {
    const LockCode code(trace.model);
    return lock_pressure(trace.model, blocked_times(trace.model, code, selection), selection, {lock}).front();
  }
};

TEST_F(LockPressureTest, is_the_blocked_part_of_the_users_time_in_each_slice) {
  const LockPressure of = pressure();
  EXPECT_EQ(of.users, 2U);  // A held it, C has nothing to do with it
  ASSERT_EQ(of.blocked_ns.size(), kPressureSlices);
  EXPECT_EQ(of.blocked_ns[0], 0);
  EXPECT_EQ(of.blocked_ns[1], 50);
  EXPECT_EQ(of.blocked_ns[2], 50);
  EXPECT_EQ(of.blocked_ns[3], 0);
  EXPECT_DOUBLE_EQ(pressure_in(of, time_slices(trace.model, {}), 1), 0.25);
  EXPECT_TRUE(of.running_ns.empty());
}

TEST_F(LockPressureTest, who_is_not_there_yet_or_any_more_does_not_count) {
  trace.enter(period, c, 5000, 5100, 3);
  trace.enter(period, b, 5850, 5900, 4);
  const LockPressure of = pressure();
  EXPECT_EQ(of.users, 3U);
  EXPECT_EQ(of.present[0], 0U);
  EXPECT_EQ(of.present[1], 2U);
  EXPECT_EQ(of.present[30], 1U);  // B comes back
  EXPECT_EQ(of.present[50], 2U);
  EXPECT_EQ(of.present[59], 0U);
  EXPECT_DOUBLE_EQ(pressure_in(of, time_slices(trace.model, {}), 50), 0.5);
}

TEST_F(LockPressureTest, has_what_the_users_ran_beside_it) {
  trace.sample(a, "main;a", 40, Nanos(220));
  trace.sample(c, "main;c", 70, Nanos(220));
  trace.sample(b, "main;b", 30, Nanos(5999));
  const LockPressure of = pressure();
  ASSERT_EQ(of.running_ns.size(), kPressureSlices);
  EXPECT_EQ(of.running_ns[2], 40);
  EXPECT_EQ(of.running_ns[59], 30);
}

TEST_F(LockPressureTest, is_about_the_selected_time) {
  const auto part = Selection::make(trace.model, {.from = Nanos(200), .to = Nanos(320)});
  ASSERT_TRUE(part.ok());
  const PressureSlices slices = time_slices(trace.model, *part);
  EXPECT_EQ(slices.length(), 2);
  const LockPressure of = pressure(*part);
  EXPECT_EQ(of.blocked_ns[0], 2);
  EXPECT_EQ(of.blocked_ns[24], 2);
  EXPECT_EQ(of.blocked_ns[25], 0);
}

TEST_F(LockPressureTest, of_a_recording_without_a_length_is_none) {
  trace.model.duration = Nanos(0);
  EXPECT_EQ(pressure().blocked_ns, std::vector<int64_t>(kPressureSlices));
  EXPECT_EQ(pressure_in(pressure(), time_slices(trace.model, {}), 0), 0);
}

}  // namespace
}  // namespace tarsier::analysis
