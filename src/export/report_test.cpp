#include "export/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "analysis/model_maker.h"
#include "export/collapsed.h"
#include "export/escape.h"
#include "export/report_tree.h"

namespace tarsier::exporting {
namespace {

using analysis::ModelMaker;
using analysis::ThreadIndex;
using analysis::ThreadKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

// 600 ms in a (400 of them in its callee hot), 200 ms in b, 200 ms of GC.
void fill(ModelMaker& maker) {
  const ThreadIndex main = maker.thread("main");
  const ThreadIndex worker = maker.thread("worker");
  for (int i = 0; i < 400; ++i) maker.sample(main, "main:3;a:7;hot:9", 1'000'000, millis(i));
  for (int i = 0; i < 200; ++i) maker.sample(main, "main:3;a:8", 1'000'000, millis(400 + i));
  for (int i = 0; i < 199; ++i) maker.sample(worker, "run;b", 1'000'000, millis(600 + i));
  maker.sample(worker, "[failed: unwalkable]", 1'000'000, millis(799));
  maker.model.unsampled_cpu = {{ThreadKind::kGc, millis(200)}};
  maker.model.file = "demo.jfr";
  maker.model.jvm = "17.0.15+6";
  maker.model.producer = "tarsier 0.1.0";
  maker.model.pid = 4711;
  maker.model.cpus = 2;
  maker.model.engines.push_back({.name = "agct",
                                 .mechanism = "perf",
                                 .why = "best",
                                 .interval = millis(1),
                                 .taken = 801,
                                 .written = 800,
                                 .dropped = {{"ring full", 1}}});
}

Json json_of(const analysis::Model& model, const ReportOptions& options = {}) {
  const auto text = report_json(model, options);
  EXPECT_TRUE(text.ok()) << text.error().what;
  return Json::parse(*text);
}

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

TEST(ReportText, shows_a_known_recording) {
  ModelMaker maker;
  fill(maker);
  const auto text = report_text(maker.model, {});
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(text->substr(text->find("Hot methods")),
            "Hot methods (shares of 1.00 s of CPU time)\n"
            "    self  95 % interval   total   samples  method\n"
            "  40.0 %   37.2 .. 42.8  40.0 %       400  hot\n"
            "  20.0 %   17.7 .. 22.5  60.0 %       200  a\n"
            "  20.0 %   20.0 .. 20.0  20.0 %         0  [GC]\n"
            "  19.9 %   17.6 .. 22.4  19.9 %       199  b\n"
            "   0.1 %     0.0 .. 0.6   0.1 %         1  [failed: unwalkable]\n"
            "   0.0 %     0.0 .. 0.4  60.0 %         0  main\n"
            "   0.0 %     0.0 .. 0.4  19.9 %         0  run\n"
            "\n"
            "Calling contexts (shares of 1.00 s of CPU time; without what has less than 1.0 %)\n"
            "    total     self\n"
            "   60.0 %    0.0 %  + main:3\n"
            "   60.0 %   20.0 %    a:7\n"
            "   40.0 %   40.0 %    hot:9\n"
            "   20.0 %   20.0 %  + [GC]\n"
            "   19.9 %    0.0 %  + run\n"
            "   19.9 %   19.9 %    b\n");
}

TEST(ReportText, branches_are_indented_and_chains_are_not) {
  ModelMaker maker;
  const ThreadIndex main = maker.thread("main");
  maker.sample(main, "main;a;x;y", 50);
  maker.sample(main, "main;a;z;z;z", 30);
  maker.sample(main, "main;b", 20);
  const auto text = report_text(maker.model, {.views = {"tree"}});
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(text->substr(text->find("    total")),
            "    total     self\n"
            "  100.0 %    0.0 %  + main\n"
            "   80.0 %    0.0 %    + a\n"
            "   50.0 %    0.0 %      + x\n"
            "   50.0 %   50.0 %        y\n"
            "   30.0 %   30.0 %      + z (x3)\n"
            "   20.0 %   20.0 %    + b\n");
}

TEST(ReportText, fits_100_columns_and_is_harmless_whatever_the_names) {
  ModelMaker maker;
  const ThreadIndex main = maker.thread("thread\x1b]0;title\x07\xff\xe2\x80\xae");
  const std::string package(500, 'p');
  for (int i = 0; i < 30; ++i) {
    std::string stack = package;
    for (int depth = 0; depth < 60; ++depth)
      stack += ";\x1b[2J" + package + std::to_string(depth <= i ? depth : i * 100 + depth);
    maker.sample(main, stack, 1);
  }
  maker.model.engines.push_back(
      {.name = "e\n", .mechanism = std::string(300, 'm'), .taken = 1, .dropped = {{"c\x1b", 1}}});
  const auto text = report_text(maker.model, {.views = known_views()});
  ASSERT_TRUE(text.ok());
  std::istringstream lines(*text);
  size_t number = 0;
  for (std::string line; std::getline(lines, line); ++number) {
    EXPECT_EQ(line, visible(line));
    EXPECT_LE(display_width(line), 100U) << line;
  }
  EXPECT_GT(number, 100U);
}

TEST(ReportText, says_what_is_known_of_the_whole_recording_only) {
  ModelMaker maker;
  fill(maker);
  EXPECT_THAT(*report_text(maker.model, {.views = {"quality"}}),
              HasSubstr("         800   100.0 %  by mechanism perf\n"));
  const auto part = report_text(maker.model, {.views = {"hot", "quality"}, .from = millis(0), .to = millis(400)});
  ASSERT_TRUE(part.ok());
  EXPECT_THAT(*part, HasSubstr("Hot methods (shares of 400 ms of CPU time, of sampled threads only)\n"));
  EXPECT_THAT(*part, HasSubstr("Of the whole recording:\n         800            by mechanism perf\n"));
}

TEST(ReportText, says_that_locks_are_those_of_a_part_of_the_time) {
  ModelMaker maker;
  maker.model.profile = analysis::Profile::kLocks;
  maker.sample(maker.thread("main"), "main;a", 1'000'000);
  EXPECT_THAT(*report_text(maker.model, {}), HasSubstr("Recorded 10.0 s: 1.0 ms of time blocked by locks."));
  maker.model.locks_are_of_part = true;
  EXPECT_THAT(*report_text(maker.model, {}),
              HasSubstr("Recorded 10.0 s; in the selected time: 1.0 ms of time blocked by locks."));
}

TEST(ReportText, shows_pauses_by_collector_and_cause) {
  ModelMaker maker;
  fill(maker);
  maker.model.duration = seconds(10);
  EXPECT_THAT(*report_text(maker.model, {.views = {"pauses"}}), HasSubstr("not recorded"));
  maker.model.pauses.names = {"young (cause)", "full"};
  maker.model.pauses.all = {{maker.model.start_ns + 10, millis(100), analysis::PauseKind::kCollectionPause, 0},
                            {maker.model.start_ns + 20, millis(400), analysis::PauseKind::kCollectionPause, 1}};
  maker.model.pauses.safepoints = {{maker.model.start_ns, seconds(1), 7, millis(600), millis(50)}};
  maker.model.engines.push_back(
      {.name = "pauses", .mechanism = "jvmti", .why = "so it is", .taken = 3, .written = 2, .dropped = {{"x", 1}}});
  const auto text = report_text(maker.model, {.views = {"pauses", "quality"}});
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(*text, HasSubstr("GC: 2 pauses, 500 ms, 5.0 % of the time, longest 400 ms; safepoints: 7, 600 ms."));
  EXPECT_THAT(*text, HasSubstr("      400 ms     4.0 %           1      400 ms  full\n"
                               "      100 ms     1.0 %           1      100 ms  young (cause)\n"));
  EXPECT_THAT(*text, HasSubstr("until all threads had stopped: 50 ms\n"));
  EXPECT_THAT(*text, HasSubstr("Pauses: 3 taken, 2 written, 1 dropped; so it is\n"));
}

TEST(ReportJson, has_pauses_or_says_that_none_were_recorded) {
  ModelMaker maker;
  fill(maker);
  EXPECT_EQ(json_of(maker.model)["pauses"], Json::parse(R"({"gc": null, "safepoints": null})"));
  maker.model.duration = seconds(10);
  maker.model.pauses.names = {"\xff"};
  maker.model.pauses.all = {{maker.model.start_ns + 10, millis(100), analysis::PauseKind::kCollectionPause, 0}};
  maker.model.pauses.safepoints = {{maker.model.start_ns, seconds(1), 7, millis(600), millis(50)}};
  EXPECT_EQ(json_of(maker.model)["pauses"], Json::parse(R"({
    "gc": {"count": 1, "total_ns": 100000000, "share": 0.01, "longest_ns": 100000000,
           "by_name": [{"name": "\ufffd", "count": 1, "total_ns": 100000000, "longest_ns": 100000000}]},
    "safepoints": {"count": 7, "total_ns": 600000000, "share": 0.06, "to_stop_ns": 50000000}})"));
}

TEST(ReportJson, has_the_views_asked_for_and_no_others) {
  ModelMaker maker;
  fill(maker);
  EXPECT_THAT(keys_of(json_of(maker.model)),
              ElementsAre("hot", "pauses", "quality", "recording", "threads", "tree", "verdict"));
  EXPECT_THAT(keys_of(json_of(maker.model, {.views = {"callers", "hot", "hot"}})),
              ElementsAre("callers", "hot", "recording", "verdict"));
}

TEST(ReportJson, tells_a_known_recording) {
  ModelMaker maker;
  fill(maker);
  const Json json = json_of(maker.model);
  const Json& recording = json["recording"];
  EXPECT_EQ(recording["pid"], 4711);
  EXPECT_EQ(recording["start"], "2001-09-09T01:46:40.000Z");
  EXPECT_EQ(recording["duration_s"], 10.0);
  EXPECT_EQ(recording["engines"][0]["samples"],
            Json::parse(R"({"taken":801,"written":800,"dropped":{"ring full":1}})"));
  EXPECT_EQ(json["hot"][0]["method"], "hot");
  EXPECT_EQ(json["hot"][0]["self"], 0.4);
  EXPECT_EQ(json["hot"][1]["total"], 0.6);
  EXPECT_EQ(json["hot"][0]["samples"], 400);
  EXPECT_NEAR(json["hot"][0]["self_ci95"][0], 0.3724, 0.0001);
  const Json& tree = json["tree"];
  EXPECT_EQ(tree["weight"], 1'000'000'000);
  EXPECT_EQ(tree["children"][0]["method"], "main");
  EXPECT_EQ(tree["children"][0]["children"][0]["children"][0],
            Json::parse(R"({"method":"hot","type":"c2","line":9,"weight":400000000,"self":400000000,"children":[]})"));
  EXPECT_EQ(tree["children"][1]["method"], "[GC]");
  EXPECT_EQ(tree["children"].size(), 3U);  // the failed one has less than 1 %
  EXPECT_EQ(json["quality"]["failed"], Json::parse(R"({"unwalkable":1})"));
  EXPECT_EQ(json["threads"][0]["name"], "main");
  EXPECT_EQ(json["threads"][0]["cpu_ns"], 600'000'000);
}

TEST(ReportJson, narrows_to_a_thread_and_a_time) {
  ModelMaker maker;
  fill(maker);
  const Json worker = json_of(maker.model, {.thread_regex = "work"});
  EXPECT_EQ(worker["hot"][0]["method"], "b");
  EXPECT_EQ(worker["hot"][0]["self"], 199.0 / 200);
  EXPECT_EQ(worker["threads"].size(), 1U);
  const Json early = json_of(maker.model, {.from = millis(400), .to = millis(500)});
  EXPECT_EQ(early["hot"][0]["method"], "a");
  EXPECT_EQ(early["tree"]["weight"], 100'000'000);
}

TEST(ReportJson, survives_names_that_are_not_utf8) {
  ModelMaker maker;
  const ThreadIndex main = maker.thread("t\xff\xfe");
  maker.sample(main, "m\xc0\x80\xff", 1);
  maker.model.jvm = "\x80";
  maker.model.problems = {"\xff"};
  maker.model.engines.push_back({.name = "\xff", .dropped = {{"\xfe", 1}, {"\xff", 2}}});
  const Json json = json_of(maker.model);
  EXPECT_EQ(json["threads"][0]["name"], "t\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(json["recording"]["engines"][0]["samples"]["dropped"]["\xef\xbf\xbd"], 3);
}

TEST(Report, refuses_what_makes_no_sense) {
  ModelMaker maker;
  fill(maker);
  const auto view = report_text(maker.model, {.views = {"hott"}});
  ASSERT_FALSE(view.ok());
  EXPECT_EQ(view.error().code, Errc::kUsage);
  for (const std::string& known : known_views()) EXPECT_THAT(view.error().what, HasSubstr(known));
  for (const ReportOptions& options :
       {ReportOptions{.min_share = -0.1}, ReportOptions{.min_share = 1.5}, ReportOptions{.min_share = NAN},
        ReportOptions{.top = 0}, ReportOptions{.thread_regex = "["}, ReportOptions{.thread_regex = "nobody"},
        ReportOptions{.from = seconds(11)}, ReportOptions{.from = seconds(3), .to = seconds(2)}}) {
    const auto json = report_json(maker.model, options);
    ASSERT_FALSE(json.ok());
    EXPECT_EQ(json.error().code, Errc::kUsage);
  }
}

TEST(Report, an_empty_model_is_no_problem) {
  const analysis::Model model;
  const auto text = report_text(model, {.views = known_views()});
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(*text, HasSubstr("no samples"));
  const Json json = json_of(model, {.views = known_views()});
  EXPECT_TRUE(json["hot"].empty());
  EXPECT_TRUE(json["tree"]["children"].empty());
  std::ostringstream collapsed;
  EXPECT_TRUE(export_collapsed(model, collapsed).ok());
  EXPECT_EQ(collapsed.str(), "");
}

TEST(Report, stacks_of_100000_frames_render_everywhere) {
  ModelMaker maker;
  const ThreadIndex main = maker.thread("main");
  std::vector<analysis::StackNode> frames(100'000);
  for (size_t i = 0; i < frames.size(); ++i) {
    frames[i].method = maker.builder().method({}, i % 2 == 0 ? "even" : "odd", {});
  }
  maker.model.samples.push_back({.thread = main, .stack = maker.builder().stack(frames, false), .weight = 100});
  const auto text = report_text(maker.model, {.views = known_views()});
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(*text, HasSubstr("99,960 frames left out"));
  EXPECT_LT(text->size(), 100'000U);
  Json node = json_of(maker.model, {.views = {"tree", "callers"}})["tree"];
  uint32_t depth = 0;
  for (; !node["children"].empty(); ++depth) node = Json(node["children"][0]);
  EXPECT_EQ(depth, kMaxJsonDepth + 1);
  EXPECT_EQ(node["method"], "[deeper]");
  EXPECT_EQ(node["weight"], 100);
  std::ostringstream collapsed;
  ASSERT_TRUE(export_collapsed(maker.model, collapsed).ok());
  EXPECT_EQ(collapsed.str().size(), 50'000 * 9 + 2U);  // "even;odd;" ... " 1\n" with one semicolon less
}

TEST(Collapsed, writes_outermost_first_and_counts_samples) {
  ModelMaker maker;
  fill(maker);
  std::ostringstream out;
  ASSERT_TRUE(export_collapsed(maker.model, out).ok());
  EXPECT_EQ(out.str(),
            "main;a 200\n"
            "main;a;hot 400\n"
            "[GC] 200\n"
            "run;b 199\n"
            "[failed: unwalkable] 1\n");
}

TEST(Collapsed, weights_are_in_units_of_the_mean_sample) {
  ModelMaker maker;
  const ThreadIndex main = maker.thread("main");
  maker.sample(main, "a", 3'000'000);
  maker.sample(main, "b", 998'000);
  maker.sample(main, "c", 2'000);
  std::ostringstream out;
  ASSERT_TRUE(export_collapsed(maker.model, out).ok());
  EXPECT_EQ(out.str(), "a 2\nb 1\nc 1\n");
}

TEST(Collapsed, waits_are_in_nanoseconds_since_they_are_no_samples) {
  ModelMaker maker;
  maker.model.profile = analysis::Profile::kWaits;
  const ThreadIndex main = maker.thread("main");
  maker.sample(main, "idle", 60'000'000'000);
  maker.sample(main, "short", 1'000'000);
  std::ostringstream out;
  ASSERT_TRUE(export_collapsed(maker.model, out).ok());
  EXPECT_EQ(out.str(), "idle 60000000000\nshort 1000000\n");
}

TEST(Collapsed, separators_in_names_are_escaped) {
  ModelMaker maker;
  const ThreadIndex main = maker.thread("main");
  const analysis::StackNode frame{.parent = {}, .method = maker.builder().method({}, "a;b\nc 7", {})};
  maker.model.samples.push_back({.thread = main, .stack = maker.builder().stack({&frame, 1}, false), .weight = 1});
  std::ostringstream out;
  ASSERT_TRUE(export_collapsed(maker.model, out).ok());
  EXPECT_EQ(out.str(), "a\\u{3b}b\\u{a}c 7 1\n");
}

TEST(Collapsed, says_so_if_the_stream_fails) {
  ModelMaker maker;
  fill(maker);
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  EXPECT_FALSE(export_collapsed(maker.model, out).ok());
}

TEST(Verdict, lines_are_harmless) {
  ModelMaker maker;
  maker.sample(maker.thread("evil\x1b[31m"), "m\n", 1);
  for (const std::string& line : verdict_lines(maker.model)) EXPECT_EQ(line, visible(line));
}

}  // namespace
}  // namespace tarsier::exporting
