#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analysis/lock_trace.h"
#include "export/report.h"

namespace tarsier::exporting {
namespace {

using analysis::LockTrace;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

constexpr int64_t kMilli = 1'000'000;

// B waits for A, and C for A and B.
void fill(LockTrace& trace) {
  const auto a = trace.thread("A"), b = trace.thread("B"), c = trace.thread("C");
  const auto period = trace.period(trace.lock("com.example.Table", 0x12ab), 1);
  trace.exit(period, a, 30 * kMilli, 1, "main;com.example.Table.queryByName");
  trace.enter(period, b, 10 * kMilli, 32 * kMilli, 2, "main;com.example.Table.queryByArticleNo");
  trace.exit(period, b, 50 * kMilli, 3, "main;com.example.Table.queryByArticleNo");
  trace.enter(period, c, 12 * kMilli, 51 * kMilli, 4, "main;com.example.Table.queryByArticleNo");
  trace.park(trace.lock("java.util.concurrent.FutureTask", 1), a, 60 * kMilli, 160 * kMilli, 1, 0, "main;get");
}

std::string text_of(const LockTrace& trace, std::vector<std::string> by = {}) {
  const auto text = report_text(trace.model, {.views = {"locks"}, .lock_aspects = std::move(by)});
  EXPECT_TRUE(text.ok());
  const size_t view = text->find("Locks (");
  return view == std::string::npos ? *text : text->substr(view);
}

// Without what is below it.
std::string tree_of(const LockTrace& trace, std::vector<std::string> by) {
  const std::string text = text_of(trace, std::move(by));
  return text.substr(0, text.find("\n\n") + 1);
}

TEST(LocksText, is_a_tree_of_the_aspects_asked_for) {
  LockTrace trace;
  fill(trace);
  EXPECT_EQ(tree_of(trace, {"object", "owner-thread", "blocked-chain"}),
            "Locks (shares of 61 ms that threads were blocked, in 2 contentions)\n"
            "Who held the lock: known with the call chain 91.8 %, only the thread is known 0.0 %, [hand-off]\n"
            "  8.2 %, [unknown owner] 0.0 %.\n"
            "By object, owner-thread, blocked-chain:\n"
            "     blocked   share     times     mean   95th %      max\n"
            "       61 ms 100.0 %         2    31 ms    39 ms    39 ms  com.example.Table@12ab\n"
            "       38 ms  62.3 %         2    19 ms    20 ms    20 ms    A\n"
            "       38 ms  62.3 %         2    19 ms    20 ms    20 ms      Table.queryByArticleNo < main\n"
            "       18 ms  29.5 %         1    18 ms    18 ms    18 ms    B\n"
            "       18 ms  29.5 %         1    18 ms    18 ms    18 ms      Table.queryByArticleNo < main\n"
            "      5.0 ms   8.2 %         2   2.5 ms   3.0 ms   3.0 ms    [hand-off]\n"
            "      5.0 ms   8.2 %         2   2.5 ms   3.0 ms   3.0 ms      Table.queryByArticleNo < main\n"
            "Not in there: 100 ms in which threads were parked for conditions, queues, joins and the like; --by\n"
            "  group shows them, too.\n");
  EXPECT_THAT(text_of(trace, {"group"}), HasSubstr("100 ms  62.1 %         1   100 ms   100 ms   100 ms  other\n"));
  EXPECT_THAT(text_of(trace, {"group"}), Not(HasSubstr("Not in there")));
}

TEST(LocksText, shortens_chains_to_the_line) {
  LockTrace trace;
  std::string frames = "main";
  for (int i = 0; i < 30; ++i) frames += ";p.Class.method" + std::to_string(i);
  trace.enter(trace.period(trace.lock("p.Lock", 1), 1), trace.thread("A"), 0, kMilli, 1, frames);
  EXPECT_THAT(text_of(trace, {"blocked-chain"}), HasSubstr("  Class.method29 < Class.method28 [+29]\n"));
}

TEST(LocksText, says_that_owners_are_not_recorded) {
  LockTrace trace;
  EXPECT_THAT(text_of(trace), HasSubstr("  none\n"));
  trace.enter(trace.period(trace.lock("p.Lock", 1), 1), trace.thread("A"), 0, kMilli, 1);
  EXPECT_THAT(text_of(trace), HasSubstr("Only who was blocked is recorded, and by monitors only"));
  // Nobody let go yet.
  trace.model.engines.push_back({.name = "lock", .mechanism = "hooks"});
  EXPECT_THAT(text_of(trace), Not(HasSubstr("Only who was blocked")));
  trace.model.engines.back().mechanism = "blocked";
  EXPECT_THAT(text_of(trace), HasSubstr("Only who was blocked"));
  LockTrace whole;
  fill(whole);
  EXPECT_THAT(text_of(whole), Not(HasSubstr("Only who was blocked")));
}

TEST(LocksJson, is_the_tree_with_its_numbers) {
  LockTrace trace;
  fill(trace);
  const auto text = report_json(trace.model, {.views = {"locks"}, .lock_aspects = {"class", "owner-method"}});
  ASSERT_TRUE(text.ok());
  const Json locks = Json::parse(*text)["locks"];
  EXPECT_EQ(locks["by"], Json({"class", "owner-method"}));
  EXPECT_EQ(locks["total_ns"], 61 * kMilli);
  EXPECT_EQ(locks["count"], 2);
  EXPECT_EQ(locks["owners_recorded"], true);
  EXPECT_EQ(locks["owners"],
            Json({{"chain_ns", 56 * kMilli}, {"thread_ns", 0}, {"hand_off_ns", 5 * kMilli}, {"unknown_ns", 0}}));
  EXPECT_EQ(locks["groups"]["other"], 100 * kMilli);
  ASSERT_EQ(locks["rows"].size(), 1U);
  const Json& row = locks["rows"][0];
  EXPECT_EQ(row["label"], "com.example.Table");
  EXPECT_EQ(row["share"], 1);
  EXPECT_EQ(row["count"], 2);
  EXPECT_EQ(row["p50_ns"], 22 * kMilli);
  EXPECT_EQ(row["max_ns"], 39 * kMilli);
  ASSERT_EQ(row["children"].size(), 3U);
  EXPECT_EQ(row["children"][0]["label"], "com.example.Table.queryByName");
  EXPECT_EQ(row["children"][0]["blocked_ns"], 38 * kMilli);
  EXPECT_EQ(row["children"][2]["label"], "[hand-off]");
}

TEST(LocksJson, top_and_min_share_leave_rows_out) {
  LockTrace trace;
  fill(trace);
  ReportOptions options{.views = {"locks"}, .min_share = 0.1, .lock_aspects = {"owner-thread"}};
  EXPECT_EQ(Json::parse(*report_json(trace.model, options))["locks"]["rows"].size(), 2U);
  options.top = 1;
  EXPECT_EQ(Json::parse(*report_json(trace.model, options))["locks"]["rows"].size(), 1U);
}

TEST(LocksReport, an_aspect_that_there_is_not_is_refused) {
  const auto text = report_text(LockTrace().model, {.views = {"locks"}, .lock_aspects = {"colour"}});
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().code, Errc::kUsage);
  EXPECT_THAT(text.error().what, HasSubstr("owner-chain"));
}

TEST(ReportLocks, begins_with_the_deadlocks_whatever_part_is_shown) {
  LockTrace trace;
  const auto a = trace.thread("A\x1b"), b = trace.thread("B");
  const auto edge = [&](analysis::ThreadIndex waits, analysis::ThreadIndex owner, int64_t identity) {
    return analysis::DeadlockEdge{waits, trace.stack("main;p.C.run"), trace.lock("p.Lock", identity), true, owner};
  };
  trace.model.deadlocks = {{1, 2'000'000'000, {edge(a, b, 0xab), edge(b, a, 0xcd)}}};
  const ReportOptions options{.views = {"locks"}};
  const std::string text = *report_text(trace.model, options);
  EXPECT_LT(text.find("A\\u{1b} waits in p.C.run for Lock@ab held by B"), text.find("Locks (shares of"));
  const Json deadlocks = Json::parse(*report_json(trace.model, options))["locks"]["deadlocks"];
  ASSERT_EQ(deadlocks.size(), 1U);
  EXPECT_EQ(deadlocks[0]["noticed_s"], 2.0);
  EXPECT_EQ(deadlocks[0]["edges"][1], Json::parse(R"({"thread": "B", "waits_in": "p.C.run", "lock":
                {"kind": "monitor", "class": "p.Lock", "identity": "cd", "held_by": "A\u001b"}})"));
}

}  // namespace
}  // namespace tarsier::exporting
