#include "serve/reading.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "analysis/loader.h"
#include "analysis/lock_pass.h"
#include "base/test_source.h"

namespace tarsier::serve {
namespace {

using State = Progress::State;

TEST(Schedule, looks_ever_more_rarely_and_never_for_more_than_a_quarter_of_the_time) {
  Schedule schedule(seconds(100), seconds(1));
  EXPECT_FALSE(schedule.due(seconds(100)));
  EXPECT_FALSE(schedule.due(millis(100'999)));
  EXPECT_TRUE(schedule.due(seconds(101)));
  schedule.looked(seconds(101), millis(101'100));
  EXPECT_FALSE(schedule.due(millis(102'199)));
  EXPECT_TRUE(schedule.due(millis(102'200)));  // twice the time
  schedule.looked(millis(102'200), millis(112'200));
  EXPECT_FALSE(schedule.due(millis(142'199)));
  EXPECT_TRUE(schedule.due(millis(142'200)));  // three times what the look has taken
}

std::vector<exporting::PagePart> part(std::string text) {
  return {{"head", std::move(text)}};
}

// A recording of one look, made by hand: what the loader would hand out.
struct FakeFile {
  analysis::LockPass locks;
  analysis::Loader loader{locks};
};

TEST(Reading, ends_with_all_parts_ready) {
  Content content;
  std::atomic<int> ended = 0;
  {
    Reading reading({.load = [](const auto&) { return analysis::Model(); },
                     .parts = [](const analysis::Model&, double done) -> Result<std::vector<exporting::PagePart>> {
                       return part(std::to_string(done) + std::string(10'000, ' '));
                     },
                     .ended = [&](const Result<analysis::Model>& model) { ended += model.ok() ? 1 : 100; }},
                    content);
    EXPECT_TRUE(reading.wait(seconds(30)));
    EXPECT_EQ(content.now().progress.state, State::kReady);
  }
  EXPECT_EQ(ended, 1);
  const auto parts = content.now().parts;
  EXPECT_EQ(parts->number, 1U);
  const Part& head = parts->by_name.find("head")->second;
  EXPECT_TRUE(head.plain->starts_with("1.0"));
  ASSERT_NE(head.gzip, nullptr) << "compressed in the end";
  EXPECT_LT(head.gzip->size(), 1000U);
}

TEST(Reading, tells_how_far_it_is_and_shows_what_it_has_while_it_goes_on) {
  Content content;
  std::atomic<bool> go_on = false;
  std::vector<double> done;
  FakeFile file;
  Reading reading({.load =
                       [&](const auto& watch) {
                         watch(analysis::SoFar(file.loader, 0.25));
                         EXPECT_EQ(content.now().progress.done, 0.25);
                         EXPECT_EQ(content.now().parts->number, 0U) << "too early";
                         while (content.now().parts->number == 0) watch(analysis::SoFar(file.loader, 0.5));
                         while (!go_on) std::this_thread::yield();
                         return analysis::Model();
                       },
                   .parts = [&](const analysis::Model&, double part_of) -> Result<std::vector<exporting::PagePart>> {
                     done.push_back(part_of);
                     return part("x");
                   },
                   .ended = [](const auto&) {}},
                  content);
  EXPECT_FALSE(reading.wait(millis(1)));
  while (content.now().parts->number == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const Content::Now now = content.now();
  EXPECT_EQ(now.progress.state, State::kReading);
  EXPECT_EQ(now.progress.done, 0.5);
  go_on = true;
  EXPECT_TRUE(reading.wait(seconds(30)));
  EXPECT_THAT(done, testing::ElementsAre(0.5, 1.0));
  EXPECT_EQ(content.now().parts->number, 2U);
}

// The real parts of a real recording, looked at after each of its chunks.
std::vector<exporting::PagePart> parts_of(const std::string& file, bool look, size_t& looks) {
  exporting::PageParts page;
  analysis::LockPass locks(page.question());
  const auto model = analysis::load_watched(file, locks, [&](const analysis::SoFar& so_far) {
    if (!look) return;
    so_far.look([&](const analysis::Model& growing) {
      const auto parts = page.make(growing, "title", so_far.done());
      EXPECT_TRUE(parts.ok());
      ++looks;
    });
  });
  EXPECT_TRUE(model.ok());
  auto parts = page.make(*model, "title");
  EXPECT_TRUE(parts.ok());
  return *std::move(parts);
}

TEST(Reading, looks_meanwhile_change_nothing_of_what_is_shown_in_the_end) {
  std::ifstream one(test_source("tests/fixtures/recording/all-events.jfr"), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(one), {}};
  ASSERT_FALSE(bytes.empty());
  const std::string file = testing::TempDir() + "/looked_at_" + std::to_string(::getpid()) + ".jfr";
  std::ofstream(file, std::ios::binary) << bytes << bytes << bytes;
  size_t looks = 0, none = 0;
  const auto looked_at = parts_of(file, true, looks), unseen = parts_of(file, false, none);
  std::remove(file.c_str());
  EXPECT_GE(looks, 3U);
  ASSERT_EQ(looked_at.size(), unseen.size());
  EXPECT_GT(unseen.size(), 2U);
  for (size_t i = 0; i < unseen.size(); ++i) {
    EXPECT_EQ(looked_at[i].name, unseen[i].name);
    EXPECT_TRUE(looked_at[i].bytes == unseen[i].bytes) << unseen[i].name;
  }
}

TEST(Reading, a_failure_is_told_with_its_words) {
  Content content;
  std::string told;
  {
    Reading reading(
        {.load = [](const auto&) -> Result<analysis::Model> {
           return Error{Errc::kCorrupt, "no chunk could be read"};
         },
         .parts = [](const analysis::Model&, double) -> Result<std::vector<exporting::PagePart>> { return part("x"); },
         .ended = [&](const Result<analysis::Model>& model) { told = model.error().what; }},
        content);
  }
  EXPECT_EQ(told, "no chunk could be read");
  EXPECT_EQ(content.now().progress.state, State::kFailed);
  EXPECT_EQ(content.now().progress.message, told);
}

TEST(Reading, parts_that_cannot_be_made_are_a_failure_too) {
  Content content;
  {
    Reading reading({.load = [](const auto&) { return analysis::Model(); },
                     .parts = [](const analysis::Model&, double) -> Result<std::vector<exporting::PagePart>> {
                       return Error{Errc::kFailed, "too large"};
                     },
                     .ended = [](const auto& model) { EXPECT_FALSE(model.ok()); }},
                    content);
  }
  EXPECT_EQ(content.now().progress.message, "too large");
}

}  // namespace
}  // namespace tarsier::serve
