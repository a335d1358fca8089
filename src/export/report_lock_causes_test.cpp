#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analysis/lock_trace.h"
#include "export/report.h"

namespace tarsier::exporting {
namespace {

using analysis::LockTrace;
using analysis::ThreadIndex;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

constexpr int64_t kMillisecond = 1'000'000;

class LockCauses : public ::testing::Test {
 protected:
  LockTrace trace;
  ThreadIndex a = trace.thread("A"), b = trace.thread("B"), c = trace.thread("C");

  // A waits 40 ms for B, who waits for C for 30 ms of them; C burns.
  void add_chain() {
    const auto outer = trace.period(trace.lock("p.Cache", 0x12), 1), inner = trace.period(trace.lock("p.Log", 0x34), 2);
    trace.exit(outer, b, 50 * kMillisecond, 1, "main;p.Cache.fill");
    trace.enter(outer, a, 10 * kMillisecond, 50 * kMillisecond, 2, "main;p.Cache.get");
    trace.exit(inner, c, 45 * kMillisecond, 1, "main;p.Log.write");
    trace.enter(inner, b, 15 * kMillisecond, 45 * kMillisecond, 2, "main;p.Cache.fill;p.Log.write");
  }
  std::string text() const {
    const auto text = report_text(trace.model, {.views = {"locks"}});
    EXPECT_TRUE(text.ok());
    const size_t tree = text->find("\nLocks (");
    const size_t below = text->find("\n\n", tree + 1);
    return below == std::string::npos ? "" : text->substr(below + 1);
  }
  Json json() const {
    const auto text = report_json(trace.model, {.views = {"locks", "threads"}});
    EXPECT_TRUE(text.ok());
    return Json::parse(*text);
  }
};

TEST_F(LockCauses, the_text_names_root_causes_and_the_worst_locks) {
  add_chain();
  for (int i = 0; i < 25; ++i)
    trace.sample(c, "main;p.Log.write;p.Log.format", kMillisecond, Nanos((16 + i) * kMillisecond));
  trace.model.duration = Nanos(60 * kMillisecond);
  EXPECT_EQ(text(),
            "\nChains of blocking: 30 ms (42.9 %) were lost to owners that were blocked themselves. Root causes,\n"
            "  with what is passed on to them, and what they have as owners in the tree above:\n"
            "      caused   share passed on  as owner   links  root cause\n"
            "       60 ms  85.7 %     30 ms     30 ms       2  Log.write (C) holding Log@34\n"
            "                         30 ms                    by way of Cache.fill (B) holding Cache@12\n"
            "       10 ms  14.3 %       0 s     40 ms       1  Cache.fill (B) holding Cache@12\n"
            "\nThe locks that were waited for most (pressure: tenths of their users' time that these were blocked,\n"
            "  from the begin to the end)\n"
            "Cache@12: 40 ms (57.1 %) in 1 contentions, used by 2 threads. While there was a queue, 1.0 waited on\n"
            "  average, 1 at most. Its owners meanwhile: 75.0 % blocked by another lock, 25.0 % not seen.\n"
            "  pressure [..........5555555555555555555555555555555555555555..........]\n"
            "Log@34: 30 ms (42.9 %) in 1 contentions, used by 2 threads. While there was a queue, 1.0 waited on\n"
            "  average, 1 at most. Its owners meanwhile: 83.3 % on a CPU (Log.format 83.3 %), 16.7 % not seen.\n"
            "  pressure [...............555555555555555555555555555555...............]\n");
}

TEST_F(LockCauses, without_samples_the_text_says_how_to_have_them) {
  add_chain();
  EXPECT_THAT(text(), HasSubstr("record --lock --cpu --waits shows it."));
  EXPECT_THAT(text(), Not(HasSubstr("meanwhile:")));
  EXPECT_FALSE(json()["locks"]["activity_recorded"]);
  EXPECT_TRUE(json()["locks"]["objects"][0]["owners"].is_null());
}

TEST_F(LockCauses, a_single_lock_has_no_chains) {
  const auto period = trace.period(trace.lock("p.Lock", 1), 1);
  trace.exit(period, a, 30 * kMillisecond, 1, "main;a");
  trace.enter(period, b, 10 * kMillisecond, 32 * kMillisecond, 2);
  EXPECT_THAT(text(), Not(HasSubstr("Chains of blocking")));
  EXPECT_THAT(text(), Not(HasSubstr("barriers")));
  EXPECT_THAT(text(), Not(HasSubstr("missing")));
}

TEST_F(LockCauses, barriers_name_who_came_last) {
  const auto latch = trace.lock("java.util.concurrent.CountDownLatch$Sync", 1);
  trace.park(latch, a, 0, 900 * kMillisecond, 1, 3, "main;p.Main.run;java.util.concurrent.CountDownLatch.await");
  trace.unpark(b, a, 900 * kMillisecond, 2, "p.Task.run;java.util.concurrent.CountDownLatch.countDown");
  EXPECT_EQ(text(),
            "\nWaiting at barriers and joins (900 ms idle)\n"
            "        idle     times  threads  where; who came last\n"
            "      900 ms         1        1  CountDownLatch in Main.run\n"
            "                                 Task.run, 100.0 % of it by thread B\n");
  const Json row = json()["locks"]["barriers"]["rows"][0];
  EXPECT_EQ(row["late_in"], "p.Task.run");
  EXPECT_EQ(row["late_thread"], "B");
  EXPECT_EQ(row["waiting_in"], "p.Main.run");
}

TEST_F(LockCauses, what_is_missing_is_said) {
  const auto period = trace.period(trace.lock("p.Lock", 1), 1);
  trace.exit(period, a, 30 * kMillisecond, 3, "main;a");
  trace.exit(period, a, 30 * kMillisecond, 3, "main;b");
  trace.enter(period, b, 10 * kMillisecond, 29 * kMillisecond, 4);
  EXPECT_THAT(text(),
              HasSubstr("Of 4 numbered events of locks, missing: 2, there twice: 1, earlier than the one before: 1."));
  EXPECT_EQ(json()["locks"]["missing"]["missing"], 2);
}

TEST_F(LockCauses, the_json_has_all_of_it) {
  add_chain();
  const Json locks = json()["locks"];
  EXPECT_EQ(locks["chains"]["passed_on_ns"], 30 * kMillisecond);
  const Json& root = locks["chains"]["rows"][0];
  EXPECT_EQ(root["method"], "p.Log.write");
  EXPECT_EQ(root["thread"], "C");
  EXPECT_EQ(root["lock"], "p.Log@34");
  EXPECT_EQ(root["caused_ns"], 60 * kMillisecond);
  EXPECT_EQ(root["direct_ns"], 30 * kMillisecond);
  EXPECT_EQ(root["through"][0]["method"], "p.Cache.fill");
  const Json& worst = locks["objects"][0];
  EXPECT_EQ(worst["lock"], "p.Cache@12");
  EXPECT_EQ(worst["users"], 2);
  EXPECT_EQ(worst["queue"]["max"], 1);
  EXPECT_EQ(worst["convoys"]["count"], 0);
  EXPECT_EQ(worst["pressure"]["blocked_ns"].size(), 60U);
  EXPECT_TRUE(worst["pressure"]["running_ns"].is_null());
}

TEST_F(LockCauses, threads_have_the_time_that_they_were_blocked) {
  trace.sample(a, "main", kMillisecond);
  EXPECT_TRUE(json()["threads"][0]["blocked_ns"].is_null());
  add_chain();
  trace.park(trace.lock("java.util.concurrent.FutureTask", 1), a, 100 * kMillisecond, 200 * kMillisecond, 1, 0,
             "main;get");
  EXPECT_EQ(json()["threads"][0]["blocked_ns"], 40 * kMillisecond);
}

}  // namespace
}  // namespace tarsier::exporting
