#include "analysis/wakeups.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "analysis/model_maker.h"

namespace tarsier::analysis {
namespace {

class WakeupsTest : public ::testing::Test {
 protected:
  // A wait from begin to end; by whom it was ended is said behind it.
  WaitInfo& wait(ThreadIndex thread, int64_t begin, int64_t end, std::string_view stack, std::string_view kind) {
    Model& model = maker.model;
    auto at = std::find(model.wait_kinds.begin(), model.wait_kinds.end(), kind);
    if (at == model.wait_kinds.end()) at = model.wait_kinds.emplace(at, kind);
    model.others[static_cast<size_t>(Profile::kWaits)].push_back(
        {.time_ns = model.start_ns + begin, .thread = thread, .stack = maker.stack(stack), .weight = end - begin});
    WaitInfo& info = model.waits.emplace_back();
    info.kind = static_cast<uint8_t>(at - model.wait_kinds.begin());
    return info;
  }
  void woken(WaitInfo& info, ThreadIndex waker, std::string_view stack) {
    info.woken_by = WokenBy::kThread;
    info.has_waker = true;
    info.waker = waker;
    info.waker_stack = maker.stack(stack);
  }
  // "kind where ns/count: waker by in chain, had waited kind ns; ..." of each row
  std::vector<std::string> rows() {
    const Model& model = maker.model;
    const Labels labels = label_methods(model, false);
    std::vector<std::string> all;
    for (const WokenRow& row : woken_profile(model, Selection(), labels).rows) {
      std::string text = model.wait_kinds[row.kind] + " " + labels.names[row.chain.at(0)] + " " +
                         std::to_string(row.sum.ns) + "/" + std::to_string(row.sum.count) + ":";
      for (const WakerRow& hop : row.hops) {
        text += " " + std::string(woken_by_name(hop.by));
        for (const auto& [thread, ns] : hop.time) text += " " + model.threads[thread.value].name;
        if (!hop.chain.empty()) text += " in " + labels.names[hop.chain[0]];
        if (hop.waited) text += ", had waited " + model.wait_kinds[*hop.waited] + " " + std::to_string(hop.waited_ns);
        text += ";";
      }
      all.push_back(text);
    }
    return all;
  }
  using Rows = std::vector<std::string>;

  ModelMaker maker;
  const ThreadIndex a = maker.thread("A"), b = maker.thread("B"), c = maker.thread("C");
};

// A waits for B, B for C, and C sleeps.
TEST_F(WakeupsTest, the_chain_is_followed_to_whoever_was_held_up_by_nobody) {
  woken(wait(a, 0, 1000, "run;waitsForB", "parked"), b, "run;wakesA");
  woken(wait(b, 100, 900, "run;waitsForC", "parked"), c, "run;wakesB");
  wait(c, 200, 800, "run;sleeps", "sleeping").woken_by = WokenBy::kInterrupt;
  EXPECT_EQ(rows(), (Rows{"parked waitsForB 1000/1: thread B in wakesA, had waited parked 800; "
                          "thread C in wakesB, had waited sleeping 600; interrupt;",
                          "parked waitsForC 800/1: thread C in wakesB, had waited sleeping 600; interrupt;",
                          "sleeping sleeps 600/1: interrupt;"}));
}

TEST_F(WakeupsTest, equal_chains_are_one_row_whoever_the_threads_are) {
  for (int64_t i = 0; i < 3; ++i) {
    woken(wait(i == 0 ? a : c, 1000 * i, 1000 * i + 500, "run;waits:" + std::to_string(i), "parked"), b, "run;wakes");
  }
  woken(wait(a, 5000, 5100, "run;waits", "parked"), c, "run;wakesOtherwise");
  EXPECT_EQ(rows(),
            (Rows{"parked waits 1500/3: thread B in wakes;", "parked waits 100/1: thread C in wakesOtherwise;"}));
}

TEST_F(WakeupsTest, a_waker_that_was_at_work_is_the_end) {
  // Its last wait was over before this one began.
  woken(wait(a, 1000, 2000, "run;waits", "parked"), b, "run;wakes");
  woken(wait(b, 500, 990, "run;waitsForC", "parked"), c, "run;wakesB");
  // It had waited for hardly any of it.
  woken(wait(a, 3000, 4000, "run;waits", "parked"), b, "run;wakes");
  woken(wait(b, 3100, 3150, "run;waitsForC", "parked"), c, "run;wakesB");
  EXPECT_EQ(rows()[0], "parked waits 2000/2: thread B in wakes;");
}

TEST_F(WakeupsTest, only_what_the_waker_waited_meanwhile_counts) {
  woken(wait(a, 1000, 2000, "run;waits", "parked"), b, "run;wakes");
  wait(b, 0, 1600, "run;sleeps", "sleeping").woken_by = WokenBy::kInterrupt;
  EXPECT_EQ(rows()[1], "parked waits 1000/1: thread B in wakes, had waited sleeping 600; interrupt;");
}

TEST_F(WakeupsTest, the_last_wait_of_the_waker_counts) {
  woken(wait(a, 0, 1000, "run;waits", "parked"), b, "run;wakes");
  wait(b, 0, 300, "run;sleeps", "sleeping").woken_by = WokenBy::kInterrupt;
  woken(wait(b, 310, 900, "run;waitsForC", "parked"), c, "run;wakesB");
  wait(b, 1000, 5000, "run;sleeps", "sleeping").woken_by = WokenBy::kInterrupt;
  EXPECT_EQ(rows()[1], "parked waits 1000/1: thread B in wakes, had waited parked 590; thread C in wakesB;");
}

TEST_F(WakeupsTest, threads_that_wake_one_another_are_no_endless_chain) {
  woken(wait(a, 0, 10'000, "run;waits", "parked"), b, "run;wakes");
  // Meanwhile B and C hand something to and fro.
  for (int64_t i = 0; i < 4; ++i) {
    woken(wait(b, 2000 * i + 1000, 2000 * i + 3000, "run;takes", "parked"), c, "run;gives");
    woken(wait(c, 2000 * i, 2000 * i + 2000, "run;takes", "parked"), b, "run;gives");
  }
  const Rows all = rows();
  EXPECT_NE(std::find(all.begin(), all.end(),
                      "parked waits 10000/1: thread B in wakes, had waited parked 2000; thread C in gives, had waited "
                      "parked 2000; thread B in gives;"),
            all.end())
      << ::testing::PrintToString(all);
}

TEST_F(WakeupsTest, there_is_an_end_after_eight_hops) {
  std::vector<ThreadIndex> threads{a};
  for (int i = 0; i < 20; ++i) threads.push_back(maker.thread("T" + std::to_string(i)));
  for (int64_t i = 0; i + 1 < 20; ++i) {
    woken(wait(threads[static_cast<size_t>(i)], 0, 10'000 - i, "run;waits", "parked"),
          threads[static_cast<size_t>(i) + 1], "run;wakes");
  }
  const Labels labels = label_methods(maker.model, false);
  size_t most = 0;
  for (const WokenRow& row : woken_profile(maker.model, Selection(), labels).rows)
    most = std::max(most, row.hops.size());
  EXPECT_EQ(most, Wakeups::kMostHops);
}

TEST_F(WakeupsTest, what_is_missing_ends_the_chain) {
  // The waker's own wait is not recorded, its stack is not known, it was another process, nobody knows, it goes on.
  woken(wait(a, 0, 500, "run;v", "parked"), b, "run;wakes");
  woken(wait(a, 1000, 1400, "run;w", "parked"), b, "");
  WaitInfo& by_process = wait(a, 2000, 2300, "run;x", "socket");
  by_process.woken_by = WokenBy::kProcess;
  maker.model.waker_processes = {"postgres"};
  wait(a, 3000, 3200, "run;y", "parked");
  WaitInfo& open = wait(a, 4000, 4100, "run;z", "parked");
  open.woken_by = WokenBy::kOngoing;
  open.ongoing = true;
  EXPECT_EQ(rows(), (Rows{"parked v 500/1: thread B in wakes;", "parked w 400/1: thread B;", "socket x 300/1: process;",
                          "parked y 200/1: unknown;", "parked z 100/1: ongoing;"}));
}

// A thread that wants a monitor looks now and then by itself whether it is free.
TEST_F(WakeupsTest, who_only_looked_whether_a_monitor_is_free_was_ended_by_who_freed_it) {
  wait(a, 0, 1000, "run;enters", "monitor").woken_by = WokenBy::kInterrupt;
  wait(a, 1100, 9000, "run;enters", "monitor").woken_by = WokenBy::kInterrupt;
  woken(wait(a, 9100, 9500, "run;enters", "monitor"), b, "run;leaves");
  EXPECT_EQ(rows(), (Rows{"monitor enters 9300/3: thread B in leaves;"}));
  // But it is another wait if it did something else in between, or waits for something else.
  wait(c, 0, 1000, "run;enters", "monitor").woken_by = WokenBy::kInterrupt;
  woken(wait(c, 1100, 1200, "run;entersAnother", "monitor"), b, "run;leaves");
  wait(c, 3000, 5000, "run;enters", "monitor").woken_by = WokenBy::kInterrupt;
  woken(wait(c, 1'000'000'000, 1'000'000'100, "run;enters", "monitor"), b, "run;leaves");
  const Rows all = rows();
  EXPECT_NE(std::find(all.begin(), all.end(), "monitor enters 3000/2: interrupt;"), all.end());
}

}  // namespace
}  // namespace tarsier::analysis
