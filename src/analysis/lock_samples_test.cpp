#include "analysis/lock_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "analysis/lock_profile.h"
#include "analysis/lock_trace.h"

namespace tarsier::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kMs = 1'000'000;

std::string path_of(const Model& model, StackIndex stack) {
  std::string path;
  for (uint32_t node = stack.value; node != 0; node = model.stacks[node].parent.value) {
    path = model.methods[model.stacks[node].method.value].name + (path.empty() ? "" : ";") + path;
  }
  return path;
}

// "thread chain ns count", added up over time.
std::vector<std::string> rows(const Model& model, Profile profile) {
  std::map<std::string, std::pair<int64_t, uint64_t>> sums;
  for (const Sample& sample : samples_of(model, profile)) {
    const bool known = sample.thread.value < model.threads.size();
    auto& sum = sums[(known ? model.threads[sample.thread.value].name : "nobody") + " " + path_of(model, sample.stack)];
    sum.first += sample.weight;
    sum.second += sample.count;
  }
  std::vector<std::string> lines;
  for (const auto& [name, sum] : sums) {
    lines.push_back(name + " " + std::to_string(sum.first) + " " + std::to_string(sum.second));
  }
  return lines;
}

int64_t total(const Model& model, Profile profile, const Selection& selection = {}) {
  int64_t sum = 0;
  for (const Sample& sample : samples_of(model, profile)) sum += selection.has(sample) ? sample.weight : 0;
  return sum;
}

int64_t total_of_view(const Model& model, const Selection& selection = {}) {
  const LockCode code(model);
  const AspectKeys keys(model, code, label_methods(model, false));
  return lock_profile(model, code, selection, keys, {LockAspect::kClass}).total();
}

class LockSampling : public ::testing::Test {
 protected:
  LockSampling() {
    trace.exit(period, a, 30, 1, "main;holds:3");
    trace.enter(period, b, 10, 32, 2, "main;wants");
    trace.exit(period, b, 50, 3, "main;holds:4");
    trace.enter(period, c, 12, 51, 4, "main;wants");
    trace.park(juc, c, 60, 70, 1, 2, "main;java.util.concurrent.locks.ReentrantLock.lock").owner = b;
    trace.park(queue, a, 0, 100, 3, 4, "main;take");
  }

  LockTrace trace;
  ThreadIndex a = trace.thread("A"), b = trace.thread("B"), c = trace.thread("C");
  LockIndex juc = trace.lock("java.util.concurrent.locks.ReentrantLock$NonfairSync", 0x34);
  LockIndex queue = trace.lock("java.util.concurrent.SynchronousQueue", 0x56);
  MonitorPeriod period = trace.period(trace.lock("p.Lock", 0x12ab), 1);
};

TEST_F(LockSampling, sums_for_the_verdict_are_by_thread_and_class_also_of_a_part_of_the_time) {
  const auto sums_of = [&](const Filter& filter) {
    Model model = trace.model;
    LockSamples samples(filter, LockSampleDetail::kSums);
    const LockCode code(model);
    for_each_contention(model, code, {},
                        [&](const auto& contention, auto pieces) { samples.add(model, code, contention, pieces); });
    samples.put(model);
    EXPECT_TRUE(samples_of(model, Profile::kOwners).empty());
    return rows(model, Profile::kLocks);
  };
  EXPECT_THAT(sums_of({}), ElementsAre("B [no stack];p.Lock 22 1",
                                       "C [no stack];java.util.concurrent.locks.ReentrantLock$NonfairSync 10 1",
                                       "C [no stack];p.Lock 39 1"));
  EXPECT_THAT(
      sums_of({.from = Nanos(11), .to = Nanos(65)}),
      ElementsAre("B [no stack];p.Lock 21 0", "C [no stack];java.util.concurrent.locks.ReentrantLock$NonfairSync 5 1",
                  "C [no stack];p.Lock 39 1"));
}

TEST_F(LockSampling, has_who_was_blocked_with_the_class_innermost_and_nothing_that_is_no_lock) {
  add_lock_samples(trace.model);
  EXPECT_THAT(
      rows(trace.model, Profile::kLocks),
      ElementsAre("B main;wants;p.Lock 22 1", "C main;java.util.concurrent.locks.ReentrantLock$NonfairSync 10 1",
                  "C main;wants;p.Lock 39 1"));
  EXPECT_EQ(total(trace.model, Profile::kLocks), total_of_view(trace.model));
}

TEST_F(LockSampling, has_who_held_the_lock_and_markers_for_what_is_not_known) {
  add_lock_samples(trace.model);
  EXPECT_THAT(
      rows(trace.model, Profile::kOwners),
      ElementsAre("A main;holds;p.Lock 38 2", "B [no chain];java.util.concurrent.locks.ReentrantLock$NonfairSync 10 1",
                  "B main;holds;p.Lock 18 1", "nobody [hand-off];p.Lock 5 2"));
  EXPECT_EQ(total(trace.model, Profile::kOwners), total_of_view(trace.model));
}

TEST_F(LockSampling, has_no_owners_if_none_were_recorded) {
  trace.events().exits.clear();
  add_lock_samples(trace.model);
  EXPECT_THAT(rows(trace.model, Profile::kOwners), IsEmpty());
  EXPECT_EQ(total(trace.model, Profile::kLocks), total_of_view(trace.model));
}

TEST_F(LockSampling, cuts_at_the_filters_time_exactly) {
  for (const auto& [from, to] : {std::pair(0, 31), std::pair(11, 13), std::pair(31, 65), std::pair(69, 90)}) {
    const Filter filter{.from = Nanos(from), .to = Nanos(to)};
    add_lock_samples(trace.model, filter);
    const auto selection = Selection::make(trace.model, filter);
    ASSERT_TRUE(selection.ok());
    // Also by those who look at the time of samples.
    EXPECT_EQ(total(trace.model, Profile::kLocks, *selection), total_of_view(trace.model, *selection)) << from;
    EXPECT_EQ(total(trace.model, Profile::kOwners, *selection), total_of_view(trace.model, *selection)) << from;
  }
}

TEST_F(LockSampling, counts_what_began_in_the_filters_time) {
  add_lock_samples(trace.model, {.from = Nanos(11), .to = Nanos(31)});
  EXPECT_THAT(rows(trace.model, Profile::kLocks), ElementsAre("B main;wants;p.Lock 20 0", "C main;wants;p.Lock 19 1"));
}

TEST_F(LockSampling, follows_the_threads_of_the_filter_by_who_was_blocked) {
  add_lock_samples(trace.model);
  const auto selection = Selection::make(trace.model, {.thread_regex = "C"});
  ASSERT_TRUE(selection.ok());
  EXPECT_EQ(total(trace.model, Profile::kLocks, *selection), total_of_view(trace.model, *selection));
}

TEST(LockSamplingOverTime, gives_each_stretch_its_part_and_counts_where_it_began) {
  LockTrace trace;
  trace.model.start_ns = 5 * kMs;
  const ThreadIndex a = trace.thread("A"), b = trace.thread("B");
  const MonitorPeriod period = LockTrace::period(trace.lock("p.Lock", 1), 1);
  trace.exit(period, a, 9 * kMs, 1, "holds");
  trace.enter(period, b, 6 * kMs + 400, 9 * kMs + 100, 2, "wants");
  add_lock_samples(trace.model);
  std::vector<std::string> lines;
  for (const Sample& sample : samples_of(trace.model, Profile::kLocks)) {
    lines.push_back(std::to_string(sample.time_ns / kMs) + " " + std::to_string(sample.weight) + " " +
                    std::to_string(sample.count));
  }
  EXPECT_THAT(lines, ElementsAre("6 999600 1", "7 1000000 0", "8 1000000 0", "9 100 0"));
  EXPECT_EQ(samples_of(trace.model, Profile::kLocks).events(), 1U);
  EXPECT_EQ(trace.model.lock_stretch, millis(1));
}

// Of so many that stretches become longer and chains are taken together: the sums stay.
TEST(LockSamplingOverTime, leaves_nothing_out_when_there_is_little_room) {
  LockTrace trace;
  std::mt19937 random(7);
  std::vector<LockIndex> locks;
  for (int i = 0; i < 40; ++i) locks.push_back(trace.lock("p.Lock" + std::to_string(i), i));
  const ThreadIndex thread = trace.thread("T"), other = trace.thread("O");
  const LockSampleRoom room{.cells = 30, .most_stretches = 50};
  LockCells blocked(room);
  int64_t sum = 0;
  for (uint64_t i = 0; i < 2000; ++i) {
    const int64_t begin = static_cast<int64_t>(random() % 1000) * kMs;
    const int64_t end = begin + static_cast<int64_t>(random() % (400 * kMs));
    const LockObject& lock = trace.model.locks.locks[locks[random() % locks.size()].value];
    blocked.add(trace.model, {}, {i % 2 == 0 ? thread : other, {}, lock.klass}, begin, end, i);
    sum += end - begin;
  }
  trace.model.others[static_cast<size_t>(Profile::kLocks)] = blocked.samples(trace.model, INT64_MIN);
  const Samples& samples = samples_of(trace.model, Profile::kLocks);
  EXPECT_EQ(total(trace.model, Profile::kLocks), sum);
  EXPECT_EQ(samples.events(), 2000U);
  EXPECT_LE(samples.size(), 30U + 60U);
  EXPECT_THAT(rows(trace.model, Profile::kLocks), ::testing::Contains(::testing::StartsWith("nobody [more] ")));
}

TEST(LockSamplingOverTime, survives_times_that_make_no_sense) {
  LockTrace trace;
  trace.model.start_ns = 1'000'000 * kMs;
  const ThreadIndex thread = trace.thread("T");
  LockCells blocked({});
  const std::pair<int64_t, int64_t> hostile[] = {
      {INT64_MIN, INT64_MAX}, {INT64_MIN / 2, 0}, {INT64_MAX - 5, INT64_MAX}, {0, INT64_MAX}};
  uint64_t number = 0;
  for (const auto& [begin, end] : hostile) blocked.add(trace.model, {}, {thread, {}}, begin, end, number++);
  const Samples samples = blocked.samples(trace.model, INT64_MIN);
  int64_t sum = 0;
  for (const Sample& sample : samples) sum += sample.weight;
  EXPECT_LE(sum, int64_t{1} << 61);
  EXPECT_EQ(samples.events(), 4U);
}

}  // namespace
}  // namespace tarsier::analysis
