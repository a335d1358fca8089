#include "export/page_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "analysis/loader.h"
#include "analysis/lock_trace.h"
#include "base/test_source.h"
#include "export/columns_for_test.h"
#include "export/page_model_for_test.h"
#include "export/page_threads.h"
#include "export/page_time.h"
#include "export/page_timeline.h"
#include "export/page_waits.h"

namespace tarsier::exporting {
namespace {

using analysis::FrameType;
using analysis::Model;
using analysis::Profile;
using nlohmann::json;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

using Parts = std::map<std::string, std::string>;

Parts parts_of(const Model& model, const std::string& title = "title") {
  const auto made = PageParts().make(model, title);
  EXPECT_TRUE(made.ok());
  Parts parts;
  if (!made.ok()) return parts;
  EXPECT_EQ(made->front().name, "head");
  for (const PagePart& part : *made) parts[part.name] = part.bytes;
  std::vector<std::string> named = json::parse(parts["head"])["parts"];
  EXPECT_EQ(named.size(), parts.size());
  for (const std::string& name : named) EXPECT_TRUE(parts.contains(name)) << name;
  return parts;
}

// The page's own tests decode the same files: writer and reader cannot drift apart.
TEST(PageParts, are_the_bytes_that_the_page_is_tested_with) {
  const Parts parts = parts_of(known_model());
  for (const auto& [part, file] : {std::pair("threads", "known.threads"), std::pair("profile-cpu", "known.profile")}) {
    std::ifstream fixture(test_source(std::string("ui/test/fixtures/") + file), std::ios::binary);
    const std::string expected{std::istreambuf_iterator<char>(fixture), {}};
    EXPECT_EQ(parts.at(part), expected) << file;
  }
}

TEST(PageParts, of_an_empty_recording_say_that_there_is_nothing) {
  const Parts parts = parts_of(Model{});
  EXPECT_EQ(parts.size(), 2u);
  const json head = json::parse(parts.at("head"));
  EXPECT_TRUE(head["profiles"].empty());
  EXPECT_EQ(head["default_profile"], "");
  EXPECT_FALSE(head.contains("locks"));
  EXPECT_FALSE(head.contains("waits"));
  EXPECT_FALSE(head.contains("machine"));
  EXPECT_GE(head["moments"], 1);
  EXPECT_TRUE(ColumnsForTest(parts.at("threads")).numbers("name").empty());
}

TEST(PageParts, have_every_profile_and_begin_with_the_chosen_one) {
  ModelForTest made;
  const auto thread = made.thread("main");
  const auto frame = made.frame({}, "A.run", FrameType::kC2, 1);
  made.sample(thread, frame, 5);
  for (const Profile profile : {Profile::kWall, Profile::kAlloc}) {
    made.model.others[static_cast<size_t>(profile)].push_back({.time_ns = 1, .thread = thread, .stack = frame});
  }
  EXPECT_TRUE(use_profile(made.model, "alloc").ok());
  const Parts parts = parts_of(made.model);
  const json head = json::parse(parts.at("head"));
  EXPECT_EQ(head["default_profile"], "alloc");
  std::vector<std::string> names;
  for (const json& profile : head["profiles"]) names.push_back(profile["name"]);
  EXPECT_THAT(names, ElementsAre("cpu", "wall", "alloc"));
  EXPECT_EQ(head["profiles"][2]["unit"], "bytes");
  EXPECT_EQ(head["profiles"][0]["quality"]["samples"], 1);
  EXPECT_THAT(ColumnsForTest(parts.at("profile-cpu")).numbers("self"), ElementsAre(5));
}

TEST(PageHead, says_what_was_recorded) {
  Model model = known_model();
  model.jvm = "17.0.15+6";
  model.pid = 42;
  model.duration = seconds(3);
  model.engines.push_back({.name = "cpu",
                           .mechanism = "agct/perf",
                           .why = "permitted",
                           .interval = millis(1),
                           .taken = 7,
                           .written = 5,
                           .failed = 0,
                           .dropped = {{"ring full", 2}},
                           .counters = {{"edges: right", 3}}});
  const json head = json::parse(parts_of(model, "a title").at("head"));
  EXPECT_EQ(head["title"], "a title");
  EXPECT_EQ(head["jvm"], "17.0.15+6");
  EXPECT_EQ(head["pid"], 42);
  EXPECT_EQ(head["duration_ns"], 3'000'000'000);
  EXPECT_EQ(head["moment_ns"], 1'000'000);
  EXPECT_EQ(head["moments"], 3000);
  EXPECT_EQ(head["complete"], 1);
  EXPECT_EQ(head["engines"][0]["dropped"]["ring full"], 2);
  EXPECT_EQ(head["engines"][0]["counters"]["edges: right"], 3);
  const json& cpu = head["profiles"][0];
  EXPECT_EQ(cpu["samples"], json::parse(R"({"count": 5, "failed": 0, "imprecise": 1, "truncated": 0})"));
  EXPECT_EQ(cpu["unsampled_ns"]["gc"], 3'000'000);
  EXPECT_FALSE(head["verdict"].empty());
}

TEST(PageHead, replaces_what_is_no_utf8) {
  Model model = known_model();
  model.file = "bad\xff\xfe.jfr";
  analysis::Engine engine;
  engine.name = "\xc3";
  engine.dropped = {{"\xff", 1}, {"\xfe", 2}};
  model.engines.push_back(engine);
  const json head = json::parse(parts_of(model, "\xc3").at("head"));
  EXPECT_THAT(head["file"].get<std::string>(), HasSubstr("\xef\xbf\xbd"));
  // Both have the same name then: nothing of them is lost.
  EXPECT_EQ(head["engines"][0]["dropped"]["\xef\xbf\xbd"], 3);
}

TEST(PageParts, carry_hostile_names_as_they_are) {
  const std::string hostile = "</script><img src=x onerror=alert(1)>\"'\x1b[31m\xe2\x80\xae\n";
  ModelForTest made;
  const auto thread = made.thread(hostile + "7");
  made.sample(thread, made.frame({}, hostile, FrameType::kC2, 1), 1);
  const Parts parts = parts_of(made.model, hostile);
  EXPECT_THAT(ColumnsForTest(parts.at("profile-cpu")).texts("names"), ElementsAre(hostile));
  EXPECT_THAT(ColumnsForTest(parts.at("threads")).texts("names"), ElementsAre("", hostile + "7", hostile + "*"));
  EXPECT_EQ(json::parse(parts.at("head"))["title"], hostile);
}

TEST(PageParts, are_bounded_for_many_samples) {
  // Each sample in a moment and frame of its own: as many rows as there can be.
  ModelForTest made;
  std::vector<analysis::StackIndex> frames;
  for (int i = 0; i < 1000; ++i) frames.push_back(made.frame({}, "A.f" + std::to_string(i), FrameType::kC2, 1));
  const auto thread = made.thread("main");
  made.model.start_ns = 1'000'000'000;
  made.model.duration = seconds(8);
  for (int64_t i = 0; i < 5'000'000; ++i) {
    made.model.samples.push_back({.time_ns = made.model.start_ns + i * 1600,
                                  .thread = thread,
                                  .stack = frames[static_cast<size_t>(i * 7919 % 1000)],
                                  .weight = 1});
  }
  const Parts parts = parts_of(made.model);
  const json head = json::parse(parts.at("head"));
  EXPECT_GT(head["moment_ns"], 1'000'000);
  EXPECT_LE(head["moments"], kMostMoments);
  const ColumnsForTest columns(parts.at("profile-cpu"));
  const auto rows = columns.numbers("moment_self");
  EXPECT_LE(rows.size(), kMostMomentRows);
  EXPECT_GT(rows.size(), kMostMomentRows / 3);
  EXPECT_EQ(std::accumulate(rows.begin(), rows.end(), int64_t{0}), 5'000'000);
  EXPECT_EQ(columns.numbers("moment_rows").size(), head["moments"]);
}

TEST(PageParts, have_the_locks_whether_they_were_asked_for_while_reading_or_not) {
  analysis::LockTrace trace;
  const auto a = trace.thread("A"), b = trace.thread("B");
  const auto lock = trace.lock("app.Lock", 1);
  trace.exit(analysis::LockTrace::period(lock, 1), a, 30, 1, "main;release");
  trace.enter(analysis::LockTrace::period(lock, 1), b, 10, 32, 2, "main;enter");
  const Parts later = parts_of(trace.model);

  PageParts collecting;
  analysis::LockPass pass(collecting.question());
  for (const auto& enter : trace.model.locks.enters) pass.came(trace.model, enter.end_ns);
  pass.finish(trace.model);
  const auto made = collecting.make(trace.model, "title");
  ASSERT_TRUE(made.ok());
  for (const PagePart& part : *made) {
    if (part.name != "locks") continue;
    EXPECT_EQ(part.bytes, later.at("locks"));
  }
  const json head = json::parse(later.at("head"));
  EXPECT_EQ(head["locks"]["contentions"], 1);
  EXPECT_EQ(head["locks"]["kept_ns"], 22);
  EXPECT_EQ(head["locks"]["parks"]["contentions"], 0);
  EXPECT_THAT(ColumnsForTest(later.at("threads")).numbers("blocked"), ElementsAre(0, 22));
}

TEST(PageThreads, have_the_account_of_the_kernel_where_there_is_one) {
  ModelForTest made;
  made.thread("http-1", 11);
  made.thread("http-2", 12);
  analysis::Thread& first = made.model.threads[0];
  first.group = "workers";
  first.cpu = millis(5);
  first.carried = millis(2);
  first.resources.values[static_cast<size_t>(analysis::Resource::kMinorFaults)] = 3;
  first.resources.values[static_cast<size_t>(analysis::Resource::kMajorFaults)] = 4;
  first.resources.values[static_cast<size_t>(analysis::Resource::kSteal)] = 9;
  analysis::ThreadTime time;
  time.parts[static_cast<size_t>(recording::TimePart::kQueue)].time = Nanos(7);
  time.parts[static_cast<size_t>(recording::TimePart::kWaits)].time = Nanos(8);
  made.model.thread_times[analysis::ThreadIndex(1)] = time;
  const ColumnsForTest threads(parts_of(made.model).at("threads"));
  EXPECT_THAT(threads.texts("names"), ElementsAre("", "http-1", "http-*", "workers", "http-2"));
  EXPECT_THAT(threads.numbers("name"), ElementsAre(1, 4));
  EXPECT_THAT(threads.numbers("pool"), ElementsAre(2, 2));
  EXPECT_THAT(threads.numbers("group"), ElementsAre(3, 0));
  EXPECT_THAT(threads.numbers("os_id"), ElementsAre(11, 12));
  EXPECT_THAT(threads.numbers("merged"), Each(1));
  EXPECT_THAT(threads.numbers("cpu"), ElementsAre(3'000'000, 0));
  EXPECT_THAT(threads.numbers("faults"), ElementsAre(7, 0));
  EXPECT_THAT(threads.numbers("steal"), ElementsAre(9, 0));
  EXPECT_THAT(threads.numbers("queue"), ElementsAre(0, 7));
  EXPECT_THAT(threads.numbers("waiting"), ElementsAre(0, 8));
  EXPECT_FALSE(threads.has("migrations"));
}

// Waits of 10, 20, .. ns; the second was ended by the other thread.
Model with_waits(int count) {
  analysis::ModelMaker made;
  const auto waiting = made.thread("waiting"), waking = made.thread("waking");
  made.model.wait_kinds = {"sleep", "<io>"};
  made.model.waker_processes = {"sshd"};
  for (int i = 0; i < count; ++i) {
    made.model.others[static_cast<size_t>(Profile::kWaits)].push_back({.time_ns = made.model.start_ns + 1000 - i * 10,
                                                                       .thread = waiting,
                                                                       .stack = made.stack("main;poll:3"),
                                                                       .weight = 10 * (i + 1)});
    made.model.waits.push_back({.kind = static_cast<uint8_t>(i % 2)});
  }
  made.model.waits[1] = {.kind = 1,
                         .woken_by = analysis::WokenBy::kThread,
                         .has_waker = true,
                         .waker = waking,
                         .waker_stack = made.stack("main;notify")};
  made.model.waits[2] = {.ongoing = true, .woken_by = analysis::WokenBy::kProcess};
  return std::move(made.model);
}

TEST(PageWaits, tell_who_waited_for_what_and_who_ended_it) {
  const Parts parts = parts_of(with_waits(3));
  const ColumnsForTest waits(parts.at("waits"));
  EXPECT_THAT(waits.numbers("begin"), ElementsAre(980, 990, 1000));
  EXPECT_THAT(waits.numbers("length"), ElementsAre(30, 20, 10));
  EXPECT_THAT(waits.numbers("thread"), Each(0));
  EXPECT_THAT(waits.numbers("kind"), ElementsAre(0, 1, 0));
  EXPECT_THAT(waits.numbers("ongoing"), ElementsAre(1, 0, 0));
  EXPECT_THAT(waits.numbers("woken_by"), ElementsAre(3, 1, 0));
  EXPECT_THAT(waits.numbers("waker"), ElementsAre(0, 2, 0));
  EXPECT_THAT(waits.numbers("process"), ElementsAre(1, 0, 0));
  EXPECT_THAT(waits.texts("kinds"), ElementsAre("sleep", "<io>"));
  EXPECT_THAT(waits.texts("processes"), ElementsAre("sshd"));
  EXPECT_THAT(waits.texts("labels"), ElementsAre("main", "poll", "notify"));
  EXPECT_THAT(waits.numbers("chain_parent"), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(waits.numbers("chain_label"), ElementsAre(0, 0, 1, 2));
  EXPECT_THAT(waits.numbers("chain"), Each(2));
  EXPECT_THAT(waits.numbers("waker_chain"), ElementsAre(0, 3, 0));
  const json head = json::parse(parts.at("head"));
  EXPECT_EQ(head["waits"]["waits"], 3);
  EXPECT_EQ(head["waits"]["kept_ns"], 60);
}

TEST(PageWaits, are_the_longest_if_there_are_many) {
  const Model model = with_waits(100);
  const PageThreads threads(model);
  const PageWaits waits = encode_waits(model, threads, PageTime(model), 3);
  EXPECT_EQ(waits.waits, 100u);
  EXPECT_EQ(waits.kept, 3u);
  EXPECT_EQ(waits.total_ns, 50'500);
  EXPECT_EQ(waits.kept_ns, 1000 + 990 + 980);
  EXPECT_THAT(ColumnsForTest(waits.bytes).numbers("length"), ElementsAre(1000, 990, 980));
}

TEST(PageTimeline, has_the_time_of_all_cpus_piece_by_piece) {
  Model model;
  model.start_ns = 1000;
  model.duration = Nanos(200);
  model.machine.emplace();
  analysis::MachineMoment moment;
  for (int i = 1; i <= 2; ++i) {
    moment.time_ns = 1000 + 100 * i;
    moment.kinds[static_cast<size_t>(analysis::ThreadKind::kApp)].cpu += Nanos(10);
    moment.kinds[static_cast<size_t>(analysis::ThreadKind::kJfr)].cpu += Nanos(1);
    moment.kinds[static_cast<size_t>(analysis::ThreadKind::kOther)].cpu += Nanos(2);
    moment.process_cpu += Nanos(13);
    moment.busy += Nanos(20);
    moment.idle += Nanos(70);
    moment.steal += Nanos(5 * i);
    model.machine_over_time.push_back(moment);
  }
  const ColumnsForTest timeline(parts_of(model).at("timeline"));
  EXPECT_THAT(timeline.numbers("at"), ElementsAre(0, 100));
  EXPECT_THAT(timeline.numbers("length"), ElementsAre(100, 100));
  EXPECT_THAT(timeline.numbers("app"), ElementsAre(10, 10));
  EXPECT_THAT(timeline.numbers("jvm_other"), ElementsAre(3, 3));
  EXPECT_THAT(timeline.numbers("processes"), ElementsAre(7, 7));
  EXPECT_THAT(timeline.numbers("stolen"), ElementsAre(5, 10));
  EXPECT_THAT(timeline.numbers("idle"), ElementsAre(70, 70));
  EXPECT_THAT(timeline.numbers("gc"), ElementsAre(0, 0));
}

TEST(PageTimeline, has_the_pauses_of_the_jvm) {
  Model model;
  model.start_ns = 1000;
  model.duration = Nanos(200);
  model.pauses = {
      {{1010, Nanos(5), analysis::PauseKind::kCollection, 1}, {1020, Nanos(6), analysis::PauseKind::kSafepoint, 0}},
      {"<b>", "G1New"}};
  const ColumnsForTest timeline(parts_of(model).at("timeline"));
  EXPECT_THAT(timeline.numbers("pause_begin"), ElementsAre(10, 20));
  EXPECT_THAT(timeline.numbers("pause_length"), ElementsAre(5, 6));
  EXPECT_THAT(timeline.numbers("pause_kind"), ElementsAre(0, 2));
  EXPECT_THAT(timeline.numbers("pause_name"), ElementsAre(1, 0));
  EXPECT_THAT(timeline.texts("pause_names"), ElementsAre("<b>", "G1New"));
  EXPECT_FALSE(timeline.has("at"));
}

TEST(PageTimeline, has_the_safepoints_by_interval) {
  Model model;
  model.start_ns = 1000;
  model.duration = Nanos(200);
  model.pauses.safepoints = {{1000, Nanos(100), 3, Nanos(20), Nanos(5)}, {1100, Nanos(90), 0, Nanos(0), Nanos(0)}};
  const ColumnsForTest timeline(parts_of(model).at("timeline"));
  EXPECT_THAT(timeline.numbers("safepoint_at"), ElementsAre(0, 100));
  EXPECT_THAT(timeline.numbers("safepoint_length"), ElementsAre(100, 90));
  EXPECT_THAT(timeline.numbers("safepoint_count"), ElementsAre(3, 0));
  EXPECT_THAT(timeline.numbers("safepoint_time"), ElementsAre(20, 0));
  EXPECT_THAT(timeline.numbers("safepoint_to_stop"), ElementsAre(5, 0));
  EXPECT_FALSE(timeline.has("pause_begin"));
}

TEST(PageTimeline, puts_intervals_of_safepoints_together_if_there_are_too_many) {
  Model model;
  model.duration = Nanos(10'000'000);
  for (int64_t i = 0; i < 250'000; ++i) model.pauses.safepoints.push_back({i * 10, Nanos(10), 1, Nanos(4), Nanos(1)});
  const ColumnsForTest timeline(parts_of(model).at("timeline"));
  const auto sum = [&](const char* column) {
    int64_t all = 0;
    for (const auto number : timeline.numbers(column)) all += static_cast<int64_t>(number);
    return all;
  };
  EXPECT_LE(timeline.numbers("safepoint_at").size(), kMostPageSafepoints);
  EXPECT_EQ(sum("safepoint_count"), 250'000);
  EXPECT_EQ(sum("safepoint_time"), 1'000'000);
  EXPECT_EQ(sum("safepoint_length"), 2'500'000);
}

// Of a file whose bytes were changed or cut anywhere there are parts, if it can be read at all.
TEST(PageParts, of_a_damaged_file_are_parts_all_the_same) {
  const std::string files[] = {"tests/fixtures/recording/all-events.jfr", "tests/fuzz/views/locks.jfr",
                               "tests/fuzz/views/small.jfr"};
  int read = 0;
  for (size_t i = 0; i < 300; ++i) {
    std::ifstream file(test_source(files[i / 5 % 3]), std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(file), {}};
    ASSERT_FALSE(whole.empty());
    std::string bytes = whole.substr(0, i % 3 == 0 ? whole.size() - (whole.size() - 1) * i / 300 : whole.size());
    for (size_t k = 0; k < i % 5; ++k) bytes[(i * 7919 + k * 104'729) % bytes.size()] ^= static_cast<char>(i + 1);
    const auto recording = recording::Recording::over({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
    if (!recording) continue;
    PageParts page;
    analysis::LockPass locks(page.question());
    analysis::Loader loader(locks);
    const auto summary = (*recording)->read(loader);
    if (!summary) continue;
    const Model model = loader.finish(*summary);
    const auto parts = page.make(model, "damaged");
    ASSERT_TRUE(parts.ok()) << i;
    for (const PagePart& part : *parts) {
      if (part.name != "head") ColumnsForTest{part.bytes};
    }
    ++read;
  }
  EXPECT_GT(read, 50);
}

}  // namespace
}  // namespace tarsier::exporting
