#include "analysis/alloc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmath>
#include <random>

#include "analysis/model_maker.h"
#include "analysis/profile.h"
#include "analysis/quality.h"
#include "analysis/thread_profile.h"
#include "analysis/verdict.h"
#include "recording/writer.h"

namespace tarsier::analysis {
namespace {

TEST(ReadableClass, is_what_java_writes) {
  EXPECT_EQ(readable_class("java/lang/String"), "java.lang.String");
  EXPECT_EQ(readable_class("[B"), "byte[]");
  EXPECT_EQ(readable_class("[[Ljava/lang/Object;"), "java.lang.Object[][]");
  for (const char* odd : {"", "[", "[[", "[X", "[L;", "[Lx"}) EXPECT_EQ(readable_class(odd), odd);
}

TEST(AllocEstimate, interval_covers_the_truth_as_often_as_it_says) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform;
  for (const double chance : {0.01, 0.5, 0.999}) {
    int covered = 0;
    constexpr int kTrials = 1000, kObjects = 400;
    for (int trial = 0; trial < kTrials; ++trial) {
      AllocEstimate estimate;
      for (int i = 0; i < kObjects; ++i) {
        if (uniform(random) < chance) estimate.add(std::llround(1000 / chance), 1 / chance);
      }
      const Interval sure = estimate.bytes_ci95();
      constexpr double kTruth = 1000.0 * kObjects;
      covered += sure.low <= kTruth * 1.0001 && kTruth * 0.9999 <= sure.high ? 1 : 0;
    }
    // Nothing sampled at all has no interval; with a chance of 1 % that is 1.8 % of the trials.
    EXPECT_GT(covered, kTrials * 0.91) << chance;
  }
}

TEST(AllocEstimate, of_objects_that_are_all_sampled_is_exact) {
  AllocEstimate estimate;
  estimate.add(1 << 22, 1);
  EXPECT_EQ(estimate.bytes_ci95().low, 1 << 22);
  EXPECT_EQ(estimate.bytes_ci95().high, 1 << 22);
}

// A recording with samples of all three kinds, through a file.
class Profiles : public testing::Test {
 protected:
  Profiles() {
    const int fd = ::mkstemp(path_);
    auto writer = *recording::Writer::open(unique_fd(fd), {});
    const recording::Value session[] = {
        std::string_view("1"), std::string_view("17"), int64_t{1}, int64_t{2}, int64_t{0}, int64_t{0},
        std::string_view()};
    writer->event(recording::Event::kSession, Nanos(1), session);
    const recording::Frame frames[] = {{writer->method({"app/Main", "make", "()V", 0}), 7, 3, FrameType::kJava},
                                       {writer->method({"app/Main", "main", "()V", 0}), 1, 1, FrameType::kJava}};
    const auto stack = writer->stack(frames, false);
    const auto thread = writer->thread({"main", 100, "main", 1, false});
    const recording::Value cpu[] = {
        thread, stack, int64_t{0}, int64_t{5'000'000}, int64_t{0}, std::string_view(), recording::ThreadId()};
    writer->event(recording::Event::kExecutionSample, Nanos(2), cpu);
    const recording::Value wall[] = {
        thread,    stack, int64_t{1}, int64_t{9'000'000}, int64_t{0}, std::string_view(), recording::ThreadId(),
        int64_t{0}};
    writer->event(recording::Event::kWallSample, Nanos(2), wall);
    for (const char* name : {"[B", "java/lang/String", "[B"}) {
      const recording::Value alloc[] = {thread,           stack,        writer->klass(name),
                                        int64_t{1 << 20}, int64_t{512}, std::string_view()};
      writer->event(recording::Event::kObjectAllocationSample, Nanos(3), alloc);
    }
    for (const auto& [name, written] : {std::pair("agct", 2), std::pair("alloc", 3)}) {
      const recording::Value used[] = {std::string_view(name), std::string_view("m"), std::string_view("w"), int64_t{0},
                                       int64_t{0}};
      writer->event(recording::Event::kEngineUsed, Nanos(3), used);
      const recording::Value samples[] = {std::string_view(name), int64_t{written}, int64_t{written}, int64_t{0}};
      writer->event(recording::Event::kEngineSamples, Nanos(3), samples);
    }
    EXPECT_TRUE(writer->finish().ok());
    auto loaded = load(path_);
    EXPECT_TRUE(loaded.ok());
    model_ = std::move(*loaded);
  }
  ~Profiles() override { ::unlink(path_); }

  char path_[32] = "/tmp/tarsier-profiles-XXXXXX";
  Model model_;
};

TEST_F(Profiles, are_kept_apart_and_one_is_chosen) {
  EXPECT_EQ(model_.profile, Profile::kCpu);
  EXPECT_EQ(model_.samples.size(), 1u);
  EXPECT_THAT(model_.problems, testing::IsEmpty());
  for (const Engine& engine : model_.engines) EXPECT_EQ(engine.taken, engine.written) << engine.name;

  ASSERT_TRUE(use_profile(model_, "wall"));
  EXPECT_EQ(model_.samples[0].weight, 9'000'000);
  ASSERT_TRUE(use_profile(model_, "alloc"));
  EXPECT_EQ(model_.samples.size(), 3u);
  EXPECT_EQ(model_.stacks[model_.samples[1].stack.value].type, FrameType::kClass);
  EXPECT_EQ(assess_quality(model_, {}).by_mechanism.at("m"), 3u);
  EXPECT_EQ(thread_profile(model_, {})[0].sampled, 3 << 20);
  ASSERT_TRUE(use_profile(model_, "cpu"));
  EXPECT_EQ(model_.samples[0].weight, 5'000'000);
}

TEST_F(Profiles, that_are_not_there_are_a_usage_error_that_lists_those_that_are) {
  Model empty;
  EXPECT_EQ(use_profile(empty, "wall").error().code, Errc::kUsage);
  model_.others = {};
  const Status missing = use_profile(model_, "alloc");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().what, testing::EndsWith("it has cpu"));
  model_.locks_are_of_part = true;
  EXPECT_THAT(use_profile(model_, "locks").error().what, testing::HasSubstr("in the selected time"));
}

TEST_F(Profiles, that_two_recordings_have_in_common) {
  Model allocates = model_;
  allocates.file = "allocates.jfr";
  allocates.samples = {};
  allocates.others[static_cast<size_t>(Profile::kWall)] = {};
  use_best_profile(allocates);
  ASSERT_TRUE(use_common_profile(model_, allocates));
  EXPECT_EQ(model_.profile, Profile::kAlloc);
  EXPECT_EQ(allocates.profile, Profile::kAlloc);

  Model empty;
  empty.file = "empty.jfr";
  const Status nothing = use_common_profile(allocates, empty);
  ASSERT_FALSE(nothing);
  EXPECT_THAT(nothing.error().what, testing::HasSubstr("allocates.jfr has alloc, empty.jfr has none at all"));
}

TEST_F(Profiles, allocation_is_listed_by_site_and_class_whatever_is_chosen) {
  const Labels labels = label_methods(model_, false);
  const AllocProfile profile = alloc_profile(model_, {}, labels);
  ASSERT_EQ(profile.rows.size(), 2u);
  EXPECT_EQ(labels.names[profile.rows[0].site], "app.Main.make");
  EXPECT_EQ(labels.names[profile.rows[0].klass], "byte[]");
  EXPECT_EQ(profile.rows[0].line, 7);
  EXPECT_EQ(profile.rows[0].estimate.bytes, 2 << 20);
  EXPECT_EQ(profile.rows[0].estimate.objects, 4096);
  EXPECT_EQ(profile.all.bytes, 3 << 20);
}

TEST_F(Profiles, the_verdict_tells_of_allocation_in_one_line) {
  EXPECT_THAT(verdict(model_), testing::Contains(testing::AllOf(testing::StartsWith("Allocated: 3.00 MB"),
                                                                testing::HasSubstr("byte[] by app.Main.make"))));
  ASSERT_TRUE(use_profile(model_, "alloc"));
  EXPECT_THAT(verdict(model_), testing::Contains(testing::StartsWith("Most allocated class: byte[]")));
}

}  // namespace
}  // namespace tarsier::analysis
