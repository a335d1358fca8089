#include "export/report_wakers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "analysis/model_maker.h"

namespace tarsier::exporting {
namespace {

using analysis::WokenBy;
using ::testing::HasSubstr;

class ReportWakersTest : public ::testing::Test {
 protected:
  ReportWakersTest() {
    maker.model.wait_kinds = {"parked", "sleeping"};
    analysis::Engine engine;
    engine.name = "waits";
    engine.mechanism = "ebpf";
    maker.model.engines.push_back(engine);
  }
  analysis::WaitInfo& wait(analysis::ThreadIndex thread, int64_t begin, int64_t end, const char* stack, uint8_t kind) {
    maker.model.others[static_cast<size_t>(analysis::Profile::kWaits)].push_back(
        {.time_ns = maker.model.start_ns + begin,
         .thread = thread,
         .stack = maker.stack(stack),
         .weight = end - begin});
    analysis::WaitInfo& info = maker.model.waits.emplace_back();
    info.kind = kind;
    return info;
  }
  void woken(analysis::WaitInfo& info, analysis::ThreadIndex waker, const char* stack) {
    info.woken_by = WokenBy::kThread;
    info.has_waker = true;
    info.waker = waker;
    info.waker_stack = maker.stack(stack);
  }
  // Of the row with the most time.
  std::string text() {
    const auto labels = analysis::label_methods(maker.model, false);
    return wakers_text(maker.model, analysis::woken_profile(maker.model, {}, labels).rows.at(0), labels);
  }
  nlohmann::ordered_json json() {
    const auto labels = analysis::label_methods(maker.model, false);
    nlohmann::ordered_json row;
    add_wakers(row, maker.model, analysis::woken_profile(maker.model, {}, labels).rows.at(0), labels);
    return row;
  }

  analysis::ModelMaker maker;
  const analysis::ThreadIndex a = maker.thread("A"), b = maker.thread("evil\x1b[2J\nname");
};

TEST_F(ReportWakersTest, the_lines_follow_the_hops_and_names_are_harmless) {
  woken(wait(a, 0, 1'000'000, "run;p.C.waits", 0), b, "p.Main.run;p.C.wakes;p.U.unpark");
  wait(b, 100'000, 900'000, "run;sleeps", 1).woken_by = WokenBy::kInterrupt;
  const std::string lines = text();
  EXPECT_THAT(lines, HasSubstr(" in U.unpark < C.wakes < Main.run\n"));
  EXPECT_THAT(text(), HasSubstr("who had waited 800 us of it (sleeping)\n"));
  EXPECT_THAT(text(), HasSubstr("and was woken by an interrupt (a timer or a device)\n"));
  EXPECT_EQ(lines.find('\x1b'), std::string::npos);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 3);
  const auto row = json();
  EXPECT_EQ(row["woken_by"], "thread");
  EXPECT_EQ(row["waker_chain"], (nlohmann::ordered_json{"p.U.unpark", "p.C.wakes", "p.Main.run"}));
  ASSERT_EQ(row["hops"].size(), 2u);
  EXPECT_EQ(row["hops"][0]["had_waited"]["kind"], "sleeping");
  EXPECT_EQ(row["hops"][0]["had_waited"]["ns"], 800'000);
  EXPECT_EQ(row["hops"][1]["woken_by"], "interrupt");
  EXPECT_TRUE(row["hops"][1]["had_waited"].is_null());
}

TEST_F(ReportWakersTest, another_process_is_named) {
  analysis::WaitInfo& info = wait(a, 0, 1000, "run;reads", 0);
  info.woken_by = WokenBy::kProcess;
  maker.model.waker_processes = {"post\x1bgres"};
  EXPECT_THAT(text(), HasSubstr("woken by the process post"));
  EXPECT_EQ(text().find('\x1b'), std::string::npos);
  EXPECT_TRUE(json()["waker_chain"].is_null());
}

TEST_F(ReportWakersTest, what_is_missing_is_said_with_what_would_bring_it) {
  EXPECT_EQ(missing_wakers_text(maker.model), "") << "there are no waits at all";
  wait(a, 0, 1000, "run;waits", 0);
  EXPECT_FALSE(wakers_recorded(maker.model));
  EXPECT_THAT(missing_wakers_text(maker.model), HasSubstr("began before"));
  maker.model.engines[0].mechanism = "watcher";
  EXPECT_THAT(missing_wakers_text(maker.model), HasSubstr("--waits-by ebpf"));
  maker.model.engines[0].mechanism = "ebpf";
  wait(a, 2000, 3000, "run;waits", 0).woken_by = WokenBy::kInterrupt;
  EXPECT_TRUE(wakers_recorded(maker.model));
  EXPECT_EQ(missing_wakers_text(maker.model), "");
}

}  // namespace
}  // namespace tarsier::exporting
