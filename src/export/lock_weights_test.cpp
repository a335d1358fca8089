// Contentions as weights of stacks, in everything that is made of stacks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "analysis/lock_samples.h"
#include "analysis/lock_trace.h"
#include "export/collapsed.h"
#include "export/columns_for_test.h"
#include "export/gzip_for_test.h"
#include "export/page_locks.h"
#include "export/page_parts.h"
#include "export/pprof.h"
#include "export/report.h"

namespace tarsier::exporting {
namespace {

using analysis::LockTrace;
using analysis::Profile;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kBlocked = 33 * kMs;

// B is blocked for 20 ms by A, then for 2 ms by nobody; C by B, without its chain, for 11 ms. A's chain differs in
// lines.
class LockWeights : public ::testing::Test {
 protected:
  LockWeights() {
    const analysis::ThreadIndex a = trace.thread("A"), b = trace.thread("B"), c = trace.thread("C");
    const analysis::MonitorPeriod period = LockTrace::period(trace.lock("p.Lock", 1), 1);
    trace.exit(period, a, 20 * kMs, 1, "main;holds:3");
    trace.exit(period, a, 30 * kMs, 2, "main;holds:4");
    trace.enter(period, b, 10 * kMs, 32 * kMs, 3, "main;wants");
    const analysis::LockIndex juc = trace.lock("java.util.concurrent.locks.ReentrantLock$NonfairSync", 2);
    trace.park(juc, c, 60 * kMs, 71 * kMs, 1, 2, "main;java.util.concurrent.locks.ReentrantLock.lock").owner = b;
    trace.model.duration = millis(100);
    analysis::add_lock_samples(trace.model);
    analysis::use_best_profile(trace.model);
  }

  LockTrace trace;
};

std::map<std::string, std::string> page_parts_of(const analysis::Model& model) {
  const auto made = PageParts().make(model, "title");
  EXPECT_TRUE(made.ok());
  std::map<std::string, std::string> parts;
  for (const PagePart& part : *made) parts[part.name] = part.bytes;
  return parts;
}

int64_t sum(const std::vector<int64_t>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), int64_t{0});
}

TEST_F(LockWeights, are_profiles_of_the_page_that_add_up_by_moment) {
  const auto parts = page_parts_of(trace.model);
  const json head = json::parse(parts.at("head"));
  EXPECT_EQ(head["default_profile"], "locks");
  ASSERT_EQ(head["profiles"].size(), 2U);
  EXPECT_EQ(head["profiles"][0]["samples"]["count"], 2);
  EXPECT_EQ(head["profiles"][0]["events"], "contentions");
  EXPECT_EQ(head["profiles"][0]["census"], true);
  for (const char* name : {"profile-locks", "profile-owners"}) {
    const ColumnsForTest columns(parts.at(name));
    EXPECT_EQ(sum(columns.numbers("self")), kBlocked) << name;
    EXPECT_EQ(sum(columns.numbers("moment_self")), kBlocked) << name;
    EXPECT_EQ(sum(columns.numbers("samples")), sum(columns.numbers("moment_samples"))) << name;
    // From 10 to 32 ms and from 60 to 71: 1 ms of each moment, with two owners only where they change.
    const auto rows = columns.numbers("moment_rows");
    const auto self = columns.numbers("moment_self");
    size_t row = 0;
    for (size_t moment = 0; moment < rows.size(); ++moment) {
      int64_t now = 0;
      for (int64_t i = 0; i < rows[moment]; ++i) now += self[row++];
      const bool blocked = (moment >= 10 && moment < 32) || (moment >= 60 && moment < 71);
      EXPECT_EQ(now, blocked ? kMs : 0) << name << " " << moment;
    }
  }
  EXPECT_THAT(ColumnsForTest(parts.at("threads")).texts("names"), testing::Contains("[no owner known]"));
}

TEST_F(LockWeights, can_be_compared_on_the_page) {
  const auto made = PageParts::make_against(trace.model, trace.model, analysis::Per::kRun, "title");
  ASSERT_TRUE(made.ok()) << made.error().what;
  std::map<std::string, std::string> parts;
  for (const PagePart& part : *made) parts[part.name] = part.bytes;
  for (const char* name : {"profile-locks", "profile-owners"}) {
    const ColumnsForTest columns(parts.at(name));
    EXPECT_EQ(sum(columns.numbers("self")), kBlocked) << name;
    EXPECT_EQ(sum(columns.numbers("before")), kBlocked) << name;
  }
}

TEST_F(LockWeights, are_nanoseconds_of_collapsed_stacks) {
  std::ostringstream out;
  ASSERT_TRUE(export_collapsed(trace.model, out).ok());
  EXPECT_EQ(out.str(),
            "main;wants;p.Lock 22000000\nmain;java.util.concurrent.locks.ReentrantLock$NonfairSync 11000000\n");
  ASSERT_TRUE(analysis::use_profile(trace.model, "owners").ok());
  std::ostringstream owners;
  ASSERT_TRUE(export_collapsed(trace.model, owners).ok());
  EXPECT_THAT(owners.str(), HasSubstr("main;holds;p.Lock 20000000\n"));
  EXPECT_THAT(owners.str(), HasSubstr("[hand-off];p.Lock 2000000\n"));
  EXPECT_THAT(owners.str(), HasSubstr("[no chain];java.util.concurrent.locks.ReentrantLock$NonfairSync 11000000\n"));
}

TEST_F(LockWeights, have_the_words_of_gos_mutex_profiles_in_pprof) {
  std::ostringstream out;
  ASSERT_TRUE(export_pprof(trace.model, out).ok());
  const std::string bytes = unpacked(out.str());
  EXPECT_THAT(bytes, HasSubstr("contentions"));
  EXPECT_THAT(bytes, HasSubstr("delay"));
  EXPECT_THAT(bytes, Not(HasSubstr("samples")));
}

TEST_F(LockWeights, are_told_without_an_interval) {
  ReportOptions options;
  options.views = {"hot", "tree"};
  const auto text = report_text(trace.model, options);
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(*text, HasSubstr("Most contended classes of locks"));
  EXPECT_THAT(*text, HasSubstr("contentions  method"));
  EXPECT_THAT(*text, Not(HasSubstr("95 %")));
}

// Until 20 and until 30 ms it was A, by two lines of one method: the page shows no lines.
TEST_F(LockWeights, leave_owners_one_whose_chains_look_the_same) {
  LockCollector collector({.in_order = 1});
  const analysis::LockCode code(trace.model);
  analysis::for_each_contention(trace.model, code, {}, [&](const auto& contention, auto pieces) {
    collector.add(trace.model, code, contention, pieces);
  });
  const PageThreads threads(trace.model);
  const ColumnsForTest columns(collector.encode(trace.model, threads, PageTime(trace.model)).bytes);
  EXPECT_THAT(columns.numbers("pieces"), ElementsAre(2, 1));
  EXPECT_THAT(columns.numbers("piece_length"), ElementsAre(20 * kMs, 2 * kMs, 11 * kMs));
}

}  // namespace
}  // namespace tarsier::exporting
