#include "capture/pause_capture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

namespace tarsier::capture {
namespace {

using testing::ElementsAre;

class PauseCaptureTest : public testing::Test {
 protected:
  explicit PauseCaptureTest(size_t ring = 4096) : memory_(ring) {
    std::strcpy(cause_, "No GC");
    std::strcpy(last_cause_, "No GC");
    signs_.collectors[0] = {&entered_[0], &left_[0]};
    signs_.collectors[1] = {&entered_[1], &left_[1]};
    signs_.collector_count = 2;
    signs_.cause = cause_;
    signs_.cause_size = sizeof(cause_);
    signs_.last_cause = last_cause_;
    signs_.last_cause_size = sizeof(last_cause_);
    signs_.safepoints = &safepoints_;
  }
  // "begin-end collector cause"
  std::vector<std::string> drained() {
    std::vector<std::string> lines;
    capture_->ring().consume([&](const uint8_t* payload, size_t) {
      PauseRecord record;
      std::memcpy(&record, payload, sizeof(record));
      lines.push_back(std::to_string(record.begin_ns) + "-" + std::to_string(record.end_ns) + " " +
                      std::to_string(record.collector) + " " +
                      std::string(record.cause, strnlen(record.cause, sizeof(record.cause))));
    });
    return lines;
  }
  // As a collector that sets its cause and its counters between our two calls.
  void collect(int64_t from, int64_t to, size_t collector, const char* cause) {
    ++safepoints_;
    capture_->begin(from);
    entered_[collector] = from + 1;
    left_[collector] = to - 1;
    std::strcpy(last_cause_, cause);
    capture_->end(to, 7);
  }
  void start() { capture_.emplace(memory_, signs_); }

  int64_t entered_[2] = {}, left_[2] = {};
  char cause_[81] = {}, last_cause_[81] = {};
  int64_t safepoints_ = 0;
  PauseSigns signs_;
  std::vector<uint8_t> memory_;
  std::optional<PauseCapture> capture_;
};

TEST_F(PauseCaptureTest, notes_when_and_by_which_collector_and_why) {
  start();
  collect(10, 20, 0, "Allocation Failure");
  collect(30, 50, 1, "System.gc()");
  EXPECT_THAT(drained(), ElementsAre("10-20 0 Allocation Failure", "30-50 1 System.gc()"));
  EXPECT_EQ(capture_->counters().taken, 2u);
}

TEST_F(PauseCaptureTest, takes_the_last_collector_of_a_pause_that_has_several) {
  start();
  capture_->begin(10);
  entered_[0] = 11, left_[0] = 15;
  entered_[1] = 16, left_[1] = 18;
  capture_->end(20, 7);
  EXPECT_THAT(drained(), ElementsAre("10-20 1 "));
}

TEST_F(PauseCaptureTest, of_a_collector_that_begins_before_and_ends_after_it_has_its_name_and_cause) {
  start();
  left_[0] = entered_[0] + 1;
  std::strcpy(cause_, "G1 Evacuation Pause");
  std::strcpy(last_cause_, "No GC");
  entered_[1] = 9;
  capture_->begin(10);
  capture_->end(20, 7);
  EXPECT_THAT(drained(), ElementsAre("10-20 1 G1 Evacuation Pause"));
}

TEST_F(PauseCaptureTest, in_one_another_are_one) {
  start();
  ++safepoints_;
  capture_->begin(10);
  capture_->begin(11);
  capture_->end(14, 7);
  capture_->begin(15);
  capture_->end(16, 7);
  capture_->end(20, 7);
  EXPECT_THAT(drained(), ElementsAre("10-20 -1 "));
  EXPECT_EQ(capture_->counters().taken, 1u);
}

TEST_F(PauseCaptureTest, without_a_begin_are_not_taken) {
  start();
  capture_->end(20, 7);
  collect(30, 40, 0, "x");
  EXPECT_THAT(drained(), ElementsAre("30-40 0 x"));
  EXPECT_EQ(capture_->counters().taken, 1u);
  EXPECT_EQ(capture_->counters().no_begin, 1u);
}

TEST_F(PauseCaptureTest, without_an_end_are_counted_and_do_not_swallow_the_next) {
  start();
  ++safepoints_;
  capture_->begin(10);
  collect(30, 40, 0, "x");
  EXPECT_THAT(drained(), ElementsAre("30-40 0 x"));
  EXPECT_EQ(capture_->counters().taken, 2u);
  EXPECT_EQ(capture_->counters().no_end, 1u);
}

TEST_F(PauseCaptureTest, without_any_signs_have_their_times_and_recover_from_missing_ends) {
  signs_ = {};
  start();
  capture_->begin(10);
  capture_->end(20, 7);
  EXPECT_THAT(drained(), ElementsAre("10-20 -1 "));
  for (int i = 0; i < 17; ++i) capture_->begin(100 + i);
  capture_->end(200, 7);
  EXPECT_THAT(drained(), ElementsAre("116-200 -1 "));
  EXPECT_EQ(capture_->counters().no_end, 1u);
}

TEST_F(PauseCaptureTest, for_which_there_is_no_room_are_counted) {
  start();
  for (int i = 0; i < 100; ++i) collect(10 * i, 10 * i + 5, 0, "x");
  const size_t kept = drained().size();
  EXPECT_GT(kept, 20u);
  EXPECT_LT(kept, 100u);
  EXPECT_EQ(capture_->counters().taken, 100u);
  EXPECT_EQ(capture_->counters().ring_full, 100 - kept);
  collect(2000, 2005, 0, "again");
  EXPECT_THAT(drained(), ElementsAre("2000-2005 0 again"));
}

TEST_F(PauseCaptureTest, with_a_cause_that_does_not_end_is_cut) {
  std::memset(cause_, 'x', sizeof(cause_));
  start();
  capture_->begin(10);
  capture_->end(20, 7);
  EXPECT_THAT(drained(), ElementsAre("10-20 -1 " + std::string(PauseRecord::kLongestCause, 'x')));
  signs_.cause_size = 3;
  start();
  capture_->begin(10);
  capture_->end(20, 7);
  EXPECT_THAT(drained(), ElementsAre("10-20 -1 xxx"));
}

// Prints what a pause costs us; it can't fail but by taking absurdly long.
TEST_F(PauseCaptureTest, costs_little) {
  start();
  constexpr int kPauses = 20'000;
  const auto now = [] {
    timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1'000'000'000 + t.tv_nsec;
  };
  int64_t spent = 0;
  for (int i = 0; i < kPauses; ++i) {
    ++safepoints_;
    const int64_t before = now();
    capture_->begin(now());
    left_[0] = before;
    capture_->end(now(), 7);
    spent += now() - before;
    if (i % 16 == 0) (void)drained();
  }
  RecordProperty("ns_per_pause", std::to_string(spent / kPauses));
  std::printf("%ld ns for begin and end of a pause, with three readings of the clock\n", spent / kPauses);
  EXPECT_LT(spent / kPauses, 1'000'000);
}

}  // namespace
}  // namespace tarsier::capture
