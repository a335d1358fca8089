#include "analysis/top_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace tarsier::analysis {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::Field;

constexpr int64_t kSecond = 1'000'000'000, kMilli = 1'000'000;
constexpr int64_t kStart = 1'700'000'000 * kSecond;

TopModel::Who java(int64_t id, std::string_view name) {
  return {.id = {100 + id, id}, .name = name};
}

// A JVM whose seconds are told one after another.
class TopModelTest : public testing::Test {
 protected:
  TopModelTest() { model.begin(kStart); }

  void cpu(const TopModel::Who& who, int64_t ms, ThreadKind kind = ThreadKind::kApp) {
    TopModel::Account account;
    account[0] = ms * kMilli;
    model.account(who, kind, account, now + kSecond / 2);
  }
  void round(int64_t count = 1) {
    now += count * kSecond;
    model.end_round(now);
  }
  bool second() {
    round();
    return model.settle();
  }
  TopThreadRow row(std::string_view name, TopSpan span = TopSpan::kLast) {
    for (const TopThreadRow& row : model.snapshot(span).threads) {
      if (row.name == name) return row;
    }
    ADD_FAILURE() << "no thread " << name;
    return {};
  }
  bool has(std::string_view name, TopSpan span = TopSpan::kLast) {
    const auto rows = model.snapshot(span).threads;
    return std::any_of(rows.begin(), rows.end(), [&](const TopThreadRow& row) { return row.name == name; });
  }
  uint32_t method(std::string_view name) { return model.method("A", name); }

  TopModel model;
  int64_t now = kStart;
};

TEST_F(TopModelTest, CpuIsThatOfTheLastSpanHoweverLongItWas) {
  cpu(java(1, "busy"), 500);
  ASSERT_TRUE(second());
  EXPECT_DOUBLE_EQ(row("busy").cpu, 0.5);
  cpu(java(1, "busy"), 700);
  round();
  cpu(java(1, "busy"), 1500);
  round();
  ASSERT_TRUE(model.settle());
  EXPECT_DOUBLE_EQ(row("busy").cpu, 0.5);
  EXPECT_EQ(model.snapshot(TopSpan::kLast).span, seconds(2));
  EXPECT_DOUBLE_EQ(row("busy", TopSpan::kAll).cpu, 0.5);
}

TEST_F(TopModelTest, WithoutANewRoundTheFiguresStay) {
  cpu(java(1, "busy"), 500);
  ASSERT_TRUE(second());
  cpu(java(1, "busy"), 600);
  EXPECT_FALSE(model.settle());
  EXPECT_DOUBLE_EQ(row("busy").cpu, 0.5);
  ASSERT_TRUE(second());
  EXPECT_DOUBLE_EQ(row("busy").cpu, 0.1);
}

TEST_F(TopModelTest, WhatWasLongAgoCountsLessInTheSmoothedFigures) {
  cpu(java(1, "once"), 1000);
  second();
  double before = row("once", TopSpan::kSmooth).cpu;
  EXPECT_DOUBLE_EQ(before, 1);
  for (int i = 0; i < 60; ++i) {
    second();
    const double smooth = row("once", TopSpan::kSmooth).cpu;
    EXPECT_LT(smooth, before);
    before = smooth;
  }
  EXPECT_LT(before, 0.001);
  EXPECT_THAT(row("once", TopSpan::kAll).cpu, DoubleNear(1 / 61.0, 1e-9));
  EXPECT_DOUBLE_EQ(row("once").cpu, 0);
}

TEST_F(TopModelTest, WhatIsNotRecordedIsUnknownAndWaitingNeedsTheRunQueue) {
  cpu(java(1, "plain"), 300);
  TopModel::Account whole;
  whole[static_cast<size_t>(TopFigure::kCpu)] = 300 * kMilli;
  whole[static_cast<size_t>(TopFigure::kSystem)] = 100 * kMilli;
  whole[static_cast<size_t>(TopFigure::kQueue)] = 200 * kMilli;
  whole[static_cast<size_t>(TopFigure::kSteal)] = 50 * kMilli;
  whole[static_cast<size_t>(TopFigure::kVoluntary)] = 40;
  model.account(java(2, "known"), ThreadKind::kApp, whole, now);
  second();
  EXPECT_FALSE(row("plain").system || row("plain").queue || row("plain").steal || row("plain").waiting);
  const TopThreadRow known = row("known");
  EXPECT_DOUBLE_EQ(*known.system, 0.1);
  EXPECT_DOUBLE_EQ(*known.queue, 0.2);
  EXPECT_DOUBLE_EQ(*known.steal, 0.05);
  EXPECT_DOUBLE_EQ(*known.waiting, 0.5);
  EXPECT_DOUBLE_EQ(*known.voluntary_switches, 40);
  EXPECT_FALSE(known.major_faults || known.blocked || known.allocated);
  EXPECT_DOUBLE_EQ(*model.snapshot(TopSpan::kLast).steal, 0.05);
}

TEST_F(TopModelTest, WhatIsToldAfterALongWhileBelongsToThatWhile) {
  const auto tell = [&](int64_t cpu_ms, int64_t queue_ms) {
    TopModel::Account account;
    account[static_cast<size_t>(TopFigure::kCpu)] = cpu_ms * kMilli;
    account[static_cast<size_t>(TopFigure::kQueue)] = queue_ms * kMilli;
    model.account(java(1, "seldom"), ThreadKind::kVm, account, now + kSecond);
    second();
  };
  tell(1, 0);
  for (int i = 0; i < 9; ++i) tell(1, 0);
  tell(2, 100);
  EXPECT_THAT(*row("seldom").queue, DoubleNear(0.01, 1e-6)) << "a tenth of it in the last of ten seconds";
  EXPECT_THAT(*row("seldom", TopSpan::kAll).queue, DoubleNear(0.1 / 11, 1e-6));
  EXPECT_DOUBLE_EQ(row("seldom").cpu, 0.001);
  tell(200, 300);
  EXPECT_DOUBLE_EQ(*row("seldom").queue, 0.2);
}

TEST_F(TopModelTest, KindsAddUpForTheProcess) {
  cpu(java(1, "a"), 300);
  cpu(java(2, "b"), 200);
  cpu({.id = {7, 0}, .name = "GC Thread#0"}, 100, ThreadKind::kGc);
  cpu({.id = {8, 0}, .name = "C2 Compiler"}, 50, ThreadKind::kJit);
  cpu({.id = {9, 0}, .name = "tarsier"}, 1, ThreadKind::kTarsier);
  model.overhead(2 * kMilli);
  second();
  const TopSnapshot all = model.snapshot(TopSpan::kLast);
  EXPECT_DOUBLE_EQ(all.cpu_of(ThreadKind::kApp), 0.5);
  EXPECT_DOUBLE_EQ(all.cpu_of(ThreadKind::kGc), 0.1);
  EXPECT_DOUBLE_EQ(all.cpu_of(ThreadKind::kJit), 0.05);
  EXPECT_DOUBLE_EQ(all.cpu_of(ThreadKind::kTarsier), 0.001);
  EXPECT_DOUBLE_EQ(all.own_app, 0.002);
}

TEST_F(TopModelTest, MethodsHaveSelfAndTotalSharesAndRecursionCountsOnce) {
  const uint32_t leaf = method("leaf"), middle = method("middle"), main = method("main");
  model.sample(java(1, "one"), std::array{leaf, middle, main}, 10 * kMilli);
  model.sample(java(1, "one"), std::array{middle, middle, main}, 20 * kMilli);
  model.sample(java(2, "two"), std::array{leaf, leaf, leaf, main}, 10 * kMilli);
  second();
  const auto rows = model.snapshot(TopSpan::kLast).methods;
  ASSERT_EQ(rows.size(), 3);
  // Of two with the same self time the one with more in all comes first.
  EXPECT_THAT(rows, ElementsAre(Field(&TopMethodRow::name, "A.middle"), Field(&TopMethodRow::name, "A.leaf"),
                                Field(&TopMethodRow::name, "A.main")));
  EXPECT_DOUBLE_EQ(rows[0].self, 0.5);
  EXPECT_DOUBLE_EQ(rows[0].total, 0.75);
  EXPECT_DOUBLE_EQ(rows[1].self, 0.5);
  EXPECT_DOUBLE_EQ(rows[1].total, 0.5);
  EXPECT_DOUBLE_EQ(rows[2].self, 0);
  EXPECT_DOUBLE_EQ(rows[2].total, 1);
  EXPECT_EQ(row("one").method, "A.middle");
  EXPECT_EQ(row("two").method, "A.leaf");
  const auto of_two = model.snapshot(TopSpan::kLast, TopThreadId{102, 2}).methods;
  ASSERT_EQ(of_two.size(), 2);
  EXPECT_DOUBLE_EQ(of_two[0].self, 1);
}

TEST_F(TopModelTest, OfALongTimeBlockedASpanHasNoMoreThanItself) {
  model.engine_runs("lock", true);
  for (int i = 0; i < 5; ++i) second();
  model.blocked(java(1, "long"), now - 3 * kSecond, now + kSecond / 2);
  model.blocked(java(2, "short"), now - kSecond / 4, now);  // told late, as always
  second();
  EXPECT_DOUBLE_EQ(*row("long").blocked, 1);
  EXPECT_DOUBLE_EQ(*row("short").blocked, 0.25);
  EXPECT_DOUBLE_EQ(*model.snapshot(TopSpan::kLast).blocked, 1.25);
  EXPECT_DOUBLE_EQ(*row("long", TopSpan::kAll).blocked, 3.5 / 6);
  EXPECT_DOUBLE_EQ(*model.snapshot(TopSpan::kAll).blocked, 3.75 / 6);
  EXPECT_LE(*row("long", TopSpan::kSmooth).blocked, 1);
  second();
  EXPECT_DOUBLE_EQ(*row("long").blocked, 0);
}

TEST_F(TopModelTest, BlockedSinceBeforeTheStartCountsFromTheStartOn) {
  model.engine_runs("lock", true);
  model.blocked(java(1, "early"), kStart - 100 * kSecond, kStart + kSecond / 4);
  second();
  EXPECT_DOUBLE_EQ(*row("early", TopSpan::kAll).blocked, 0.25);
}

TEST_F(TopModelTest, AllocationIsARateAndUnknownWhereItsEngineDoesNotRun) {
  model.allocated(java(1, "a"), 1'000'000);
  second();
  EXPECT_FALSE(row("a").allocated);
  model.engine_runs("alloc", true);
  EXPECT_DOUBLE_EQ(*row("a").allocated, 1e6);
  model.engine_runs("alloc", false);
  EXPECT_FALSE(row("a").allocated);
}

TEST_F(TopModelTest, VirtualThreadsAreOneRow) {
  model.engine_runs("alloc", true);
  for (int64_t i = 1; i <= 1000; ++i) {
    model.allocated({.id = {0, i}, .name = "v" + std::to_string(i), .is_virtual = true}, 1000);
  }
  second();
  EXPECT_EQ(model.threads(), 1);
  EXPECT_DOUBLE_EQ(*row(TopModel::kVirtualThreads).allocated, 1e6);
}

TEST_F(TopModelTest, ThreadsThatHaveEndedAreSeenOnceThenTogether) {
  cpu(java(1, "lives"), 100);
  cpu(java(2, "ends"), 200);
  model.sample(java(2, "ends"), std::array{method("work")}, 200 * kMilli);
  model.ended_but(std::array<int64_t, 1>{101});
  second();
  EXPECT_TRUE(has("ends"));
  cpu(java(1, "lives"), 200);
  model.ended_but(std::array<int64_t, 1>{101});
  second();
  EXPECT_FALSE(has("ends"));
  EXPECT_FALSE(has(TopModel::kEndedThreads)) << "they did nothing in this span";
  EXPECT_EQ(model.snapshot(TopSpan::kLast).threads_ended, 1);
  const TopThreadRow ended = row(TopModel::kEndedThreads, TopSpan::kAll);
  EXPECT_DOUBLE_EQ(ended.cpu, 0.1);
  EXPECT_EQ(ended.method, "A.work");
  EXPECT_TRUE(ended.together);
}

TEST_F(TopModelTest, AThreadThatIsIdleStays) {
  cpu(java(1, "idle"), 100);
  for (int i = 0; i < 300; ++i) {
    model.ended_but(std::array<int64_t, 1>{101});
    second();
  }
  EXPECT_TRUE(has("idle"));
}

TEST_F(TopModelTest, AnotherThreadWithTheSameNumberBeginsAnew) {
  cpu(java(1, "first"), 900);
  second();
  cpu({.id = {101, 5}, .name = "second"}, 100);
  second();
  EXPECT_DOUBLE_EQ(row("second").cpu, 0.1);
  second();
  EXPECT_FALSE(has("first")) << "though its number is in use";
  // The same without a Java id: a counter that goes back.
  cpu({.id = {50, 0}, .name = "native"}, 500, ThreadKind::kOther);
  second();
  cpu({.id = {50, 0}, .name = "native"}, 100, ThreadKind::kOther);
  second();
  EXPECT_DOUBLE_EQ(row("native").cpu, 0.1);
}

TEST_F(TopModelTest, AThreadThatIsRecognisedLaterIsNotCountedTwice) {
  cpu({.id = {101, 0}, .name = "java"}, 400, ThreadKind::kOther);
  second();
  cpu(java(1, "main"), 500);
  second();
  EXPECT_DOUBLE_EQ(row("main").cpu, 0.1);
  EXPECT_FALSE(has("java"));
}

TEST_F(TopModelTest, MethodsWithoutANumberOfTheirOwnAreNotLost) {
  // Many more than are kept, one of them hot.
  for (int i = 0; i < 20; ++i) {
    for (int j = 0; j < 2'000; ++j) {
      const uint32_t cold = method("m" + std::to_string(i * 2'000 + j));
      model.sample(java(1, "churn"), std::array{cold, method("main")}, kMilli);
      model.sample(java(1, "churn"), std::array{method("hot"), method("main")}, kMilli);
    }
    second();
    EXPECT_LE(model.methods(), TopModel::kMostMethods);
    EXPECT_LE(model.pairs(), 2 * TopModel::kMostOfAThread);
  }
  const auto rows = model.snapshot(TopSpan::kAll, {}, 100'000).methods;
  EXPECT_EQ(rows[0].name, "A.hot");
  EXPECT_THAT(rows[0].self, DoubleNear(0.5, 1e-9));
  double sum = 0;
  for (const TopMethodRow& row : rows) sum += row.self;
  EXPECT_THAT(sum, DoubleNear(1, 1e-9));
  const auto of_thread = model.snapshot(TopSpan::kAll, TopThreadId{101, 1}, 100'000).methods;
  EXPECT_EQ(of_thread[0].name, "A.hot");
  EXPECT_THAT(of_thread[0].self, DoubleNear(0.5, 0.01));
}

TEST_F(TopModelTest, MoreThreadsThanAreListedAreCountedAsSuch) {
  const auto many = static_cast<int64_t>(TopModel::kMostThreads) + 1000;
  for (int64_t i = 1; i <= many; ++i) {
    cpu(java(i, "t"), 1);
    model.allocated(java(i, "t"), 10);
  }
  model.engine_runs("alloc", true);
  second();
  EXPECT_LE(model.threads(), TopModel::kMostThreads + 2);
  EXPECT_EQ(model.snapshot(TopSpan::kLast).unlisted, 1000);
  EXPECT_DOUBLE_EQ(*row(TopModel::kOtherThreads).allocated, 10'000);
}

TEST_F(TopModelTest, ShortLivesDoNotPileUp) {
  int64_t id = 0;
  for (int i = 0; i < 50; ++i) {
    for (int j = 0; j < 1000; ++j) {
      ++id;
      cpu(java(id, "short"), 1);
      model.sample(java(id, "short"), std::array{method("work"), method("run")}, kMilli);
    }
    model.ended_but({});
    second();
    EXPECT_LE(model.threads(), 2'100);
    EXPECT_LE(model.pairs(), 5'000);
  }
  EXPECT_DOUBLE_EQ(model.snapshot(TopSpan::kAll).cpu_of(ThreadKind::kApp), 1);
}

TEST_F(TopModelTest, WhatEnginesLoseIsAddedUp) {
  model.counted("fragment", 100, 3);
  model.counted("alloc", 50, 0);
  model.dropped("fragment", "ring full", 7);
  model.dropped("fragment", "ring full", 9);
  model.dropped("alloc", "ring full", 1);
  second();
  const TopSnapshot all = model.snapshot(TopSpan::kLast);
  EXPECT_EQ(all.taken, 150);
  EXPECT_EQ(all.failed, 3);
  EXPECT_EQ(all.dropped, 10);
}

TEST_F(TopModelTest, NonsenseDoesNotBreakIt) {
  TopModel::Account damaged;
  damaged[0] = INT64_MIN;
  damaged[1] = INT64_MAX;
  model.account({.id = {INT64_MAX, INT64_MAX}, .name = ""}, ThreadKind::kOther, damaged, INT64_MIN);
  model.sample(java(1, "x"), std::array<uint32_t, 1>{4711}, INT64_MIN);
  model.blocked(java(1, "x"), INT64_MAX, INT64_MIN);
  model.allocated(java(1, "x"), -5);
  model.end_round(0);
  EXPECT_FALSE(model.settle());
  second();
  EXPECT_GE(model.snapshot(TopSpan::kLast).threads.size(), 1);
}

}  // namespace
}  // namespace tarsier::analysis
