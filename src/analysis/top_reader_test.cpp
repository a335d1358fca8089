// From a recording that grows to the model of `tarsier top`.
#include "analysis/top_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "recording/test_recording.h"

namespace tarsier::analysis {
namespace {

using recording::Event;
using recording::Frame;
using recording::FrameType;
using recording::ThreadId;
using recording::Value;

class TopReaderTest : public testing::Test {
 protected:
  TopReaderTest() : writer(recording::open_writer(file)), tail(file.path()), start(monotonic_now()) {
    const Value session[] = {
        std::string_view("1"),  std::string_view("21.0.1"), int64_t{42}, int64_t{4}, int64_t{1}, int64_t{0},
        std::string_view("cpu")};
    writer->sticky_event(Event::kSession, "", start, session);
    engine("fragment", "perf");
  }
  void engine(std::string_view name, std::string_view mechanism) {
    const Value used[] = {name, mechanism, std::string_view(""), int64_t{0}, int64_t{0}};
    writer->sticky_event(Event::kEngineUsed, name, start, used);
  }
  ThreadId thread(std::string_view name, int64_t os_id, int64_t java_id, bool is_virtual = false) {
    return writer->thread({name, os_id, java_id != 0 ? name : std::string_view(), java_id, is_virtual});
  }
  // What is not told here is not known.
  void account(ThreadId who, std::string_view kind, int64_t cpu_ns, int64_t queue_ns = recording::kUnknown,
               int64_t steal_ns = recording::kUnknown) {
    std::vector<Value> values = {who, kind, int64_t{1}, cpu_ns};
    const auto fields = recording::event_type(Event::kThreadCpu).fields;
    for (const auto& field : fields.subspan(values.size())) {
      values.push_back(field.name == "runQueue" ? queue_ns : field.name == "steal" ? steal_ns : recording::kUnknown);
    }
    writer->event(Event::kThreadCpu, start, values);
  }
  void sample(ThreadId who, std::string_view method, std::string_view failure = {}, ThreadId carrier = {}) {
    const Frame frames[] = {{writer->method({"a/B", method, "()V", 1}), 1, 0, FrameType::kC2},
                            {writer->method({"a/B", "run", "()V", 1}), 1, 0, FrameType::kC2}};
    const Value values[] = {who,    writer->stack(frames, false), int64_t{0}, int64_t{10'000'000}, int64_t{0}, failure,
                            carrier};
    writer->event(Event::kExecutionSample, start, values);
  }
  void end_second(int64_t number, int64_t own_ns = 0) {
    const Value overhead[] = {own_ns, own_ns, int64_t{0}};
    writer->event(Event::kOverhead, start + seconds(number), overhead);
    ASSERT_TRUE(writer->flush().ok());
  }
  void look() {
    const auto looked = tail.look();
    ASSERT_TRUE(looked.ok());
    ASSERT_TRUE(*looked);
    ASSERT_TRUE(tail.model().settle());
  }

  recording::TempFile file;
  std::unique_ptr<recording::Writer> writer;
  TopTail tail;
  Nanos start;
};

TEST_F(TopReaderTest, EachLookHasWhatIsNew) {
  const ThreadId worker = thread("worker", 11, 1);
  account(worker, "app", 250'000'000);
  account(thread("GC Thread#0", 12, 0), "gc", 100'000'000);
  sample(worker, "hot");
  end_second(1, 1'000'000);
  look();
  TopSnapshot now = tail.model().snapshot(TopSpan::kLast);
  ASSERT_EQ(now.threads.size(), 2u);
  EXPECT_EQ(now.threads[0].name, "worker");
  EXPECT_EQ(now.threads[0].method, "a.B.hot");
  EXPECT_DOUBLE_EQ(now.threads[0].cpu, 0.25);
  EXPECT_DOUBLE_EQ(now.cpu_of(ThreadKind::kGc), 0.1);
  EXPECT_DOUBLE_EQ(now.own_app, 0.001);
  EXPECT_EQ(tail.reader().jvm(), "21.0.1");
  EXPECT_EQ(tail.reader().cpus(), 4);

  account(worker, "app", 1'250'000'000);
  sample(worker, "cold");
  end_second(3);
  look();
  now = tail.model().snapshot(TopSpan::kLast);
  EXPECT_DOUBLE_EQ(now.threads[0].cpu, 0.5);
  EXPECT_EQ(now.threads[0].method, "a.B.cold");
  EXPECT_EQ(now.methods[0].name, "a.B.cold");
}

TEST_F(TopReaderTest, WhatTheKernelKnowsIsReadAndTheRestIsUnknown) {
  account(thread("known", 11, 1), "app", 300'000'000, 200'000'000, 100'000'000);
  account(thread("plain", 12, 2), "app", 300'000'000);
  account(thread("JFR Recorder", 13, 3), "jfr", 50'000'000);
  end_second(1);
  look();
  const TopSnapshot now = tail.model().snapshot(TopSpan::kLast);
  ASSERT_EQ(now.threads.size(), 3u);
  EXPECT_DOUBLE_EQ(*now.threads[0].queue, 0.2);
  EXPECT_DOUBLE_EQ(*now.threads[0].steal, 0.1);
  EXPECT_DOUBLE_EQ(*now.threads[0].waiting, 0.5);
  EXPECT_FALSE(now.threads[0].system || now.threads[0].migrations);
  EXPECT_FALSE(now.threads[1].queue || now.threads[1].steal || now.threads[1].waiting);
  EXPECT_DOUBLE_EQ(*now.steal, 0.1);
  EXPECT_FALSE(now.system);
  EXPECT_DOUBLE_EQ(now.cpu_of(ThreadKind::kJfr), 0.05);
}

TEST_F(TopReaderTest, WithoutANewRoundThereIsNothingToSettle) {
  account(thread("worker", 11, 1), "app", 1);
  ASSERT_TRUE(writer->flush().ok());
  const auto looked = tail.look();
  ASSERT_TRUE(looked.ok());
  EXPECT_FALSE(*looked);
  EXPECT_FALSE(tail.model().settle());
}

TEST_F(TopReaderTest, SamplesOfVirtualThreadsAreTheirCarriers) {
  const ThreadId carrier = thread("carrier", 21, 2);
  account(carrier, "app", 500'000'000);
  sample(thread("virtual", 0, 77, true), "work", {}, carrier);
  end_second(1);
  look();
  const TopSnapshot now = tail.model().snapshot(TopSpan::kLast);
  ASSERT_EQ(now.threads.size(), 1u);
  EXPECT_EQ(now.threads[0].name, "carrier");
  EXPECT_EQ(now.threads[0].method, "a.B.work");
}

TEST_F(TopReaderTest, AStackThatFailedSaysSo) {
  sample(thread("worker", 11, 1), "x", "too deep");
  end_second(1);
  look();
  EXPECT_EQ(tail.model().snapshot(TopSpan::kLast).methods[0].name, "[failed: too deep]");
}

TEST_F(TopReaderTest, AllocationAndBlockingAreThoseOfTheirThreads) {
  engine("alloc", "sampler");
  engine("lock", "none");
  const ThreadId worker = thread("worker", 11, 1);
  const Value allocation[] = {worker,      recording::StackId(), writer->klass("[B"), int64_t{4'000'000},
                              int64_t{16}, std::string_view()};
  writer->event(Event::kObjectAllocationSample, start, allocation);
  const auto enter = [&](ThreadId who) {
    const Value values[] = {int64_t{300'000'000},
                            who,
                            recording::StackId(),
                            writer->klass("a/Lock"),
                            ThreadId(),
                            int64_t{0},
                            int64_t{0},
                            int64_t{0},
                            int64_t{0},
                            int64_t{0},
                            int64_t{0},
                            std::string_view(),
                            ThreadId()};
    writer->event(Event::kJavaMonitorEnter, start, values);
  };
  enter(worker);
  end_second(1);
  look();
  TopThreadRow row = tail.model().snapshot(TopSpan::kLast).threads.at(0);
  EXPECT_DOUBLE_EQ(*row.allocated, 4e6);
  EXPECT_FALSE(row.blocked) << "its engine does not run";
  tail.model().engine_runs("lock", true);
  row = tail.model().snapshot(TopSpan::kLast).threads.at(0);
  EXPECT_DOUBLE_EQ(*row.blocked, 0.3);
}

}  // namespace
}  // namespace tarsier::analysis
