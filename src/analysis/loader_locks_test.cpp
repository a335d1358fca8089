// Lock events as our writer writes them, and as JFR itself does.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "analysis/jfr_test_file.h"
#include "analysis/loader.h"
#include "analysis/lock_aspects.h"
#include "recording/writer.h"

namespace tarsier::analysis {
namespace {

using recording::Event;
using recording::Value;

class OwnRecording {
 public:
  OwnRecording() {
    const int fd = ::mkstemp(path_.data());
    writer_ = *recording::Writer::open(unique_fd(fd), {});
  }
  OwnRecording(const OwnRecording&) = delete;
  OwnRecording& operator=(const OwnRecording&) = delete;
  ~OwnRecording() { ::unlink(path_.c_str()); }

  recording::Writer& writer() { return *writer_; }
  recording::ThreadId thread(int64_t id, std::string_view name) {
    return writer_->thread({.os_name = name, .os_id = id, .java_name = name, .java_id = id});
  }
  recording::StackId stack(std::string_view method) {
    const recording::Frame frame{.method = writer_->method({.class_name = "p/C", .name = method, .descriptor = "()V"}),
                                 .line = 1};
    return writer_->stack(std::span(&frame, 1), false);
  }
  void event(Event type, int64_t start, std::initializer_list<Value> values) {
    writer_->event(type, Nanos(start), {values.begin(), values.size()});
  }
  Model load() {
    EXPECT_TRUE(writer_->finish().ok());
    auto model = analysis::load(path_);
    EXPECT_TRUE(model.ok());
    return *std::move(model);
  }

 private:
  std::string path_ = ::testing::TempDir() + "/locks.XXXXXX";
  std::unique_ptr<recording::Writer> writer_;
};

constexpr std::string_view kNull{};
constexpr recording::ThreadId kNoThread{};

TEST(LoaderLocks, puts_the_threads_of_a_deadlock_together) {
  OwnRecording file;
  const auto a = file.thread(1, "A");
  const auto b = file.thread(2, "B");
  const auto klass = file.writer().klass("p/Lock");
  for (const int64_t cycle : {1, 2}) {
    file.event(Event::kDeadlock, 50, {a, file.stack("a"), klass, int64_t{7}, std::string_view("monitor"), b, cycle});
    file.event(Event::kDeadlock, 50,
               {b, file.stack("b"), klass, int64_t{8}, std::string_view("synchronizer"), kNoThread, cycle});
  }
  const Model model = file.load();
  ASSERT_EQ(model.deadlocks.size(), 2U);
  const Deadlock& deadlock = model.deadlocks[0];
  ASSERT_EQ(deadlock.edges.size(), 2U);
  EXPECT_EQ(deadlock.edges[0].owner, deadlock.edges[1].thread);
  EXPECT_EQ(deadlock.edges[1].owner, kNobody);
  EXPECT_EQ(lock_name(model, deadlock.edges[1].lock), "p.Lock@8");
  EXPECT_TRUE(deadlock.edges[0].is_monitor);
  EXPECT_FALSE(deadlock.edges[1].is_monitor);
  EXPECT_EQ(model.methods[model.stacks[deadlock.edges[0].stack.value].method.value].name, "p.C.a");
  EXPECT_TRUE(model.locks.empty()) << "it is no contention";
}

TEST(LoaderLocks, reads_all_that_we_write) {
  OwnRecording file;
  const auto a = file.thread(1, "A");
  const auto b = file.thread(2, "B");
  const auto klass = file.writer().klass("p/Lock");
  constexpr int64_t kNone = INT64_MIN;
  file.event(Event::kJavaMonitorEnter, 5'000'000'000,
             {int64_t{300}, b, file.stack("enter"), klass, a, int64_t{0x7000}, int64_t{0x12ab}, int64_t{7}, int64_t{2},
              int64_t{1}, int64_t{0}, kNull, kNoThread});
  file.event(Event::kMonitorExit, 5'000'000'200,
             {a, file.stack("leave"), klass, int64_t{0x7000}, int64_t{0x12ab}, int64_t{7}, int64_t{1},
              std::string_view("exit"), b, kNull, kNoThread});
  file.event(Event::kMonitorExit, 5'000'000'900,
             {b, recording::StackId{}, klass, int64_t{0x7000}, int64_t{0x12ab}, int64_t{7}, int64_t{3},
              std::string_view("exit"), kNoThread, std::string_view("no Java frame"), kNoThread});
  file.event(Event::kThreadPark, 5'000'001'000,
             {int64_t{400}, a, file.stack("park"), klass, kNone, kNone, int64_t{0}, int64_t{0x34}, int64_t{2}, b,
              int64_t{0}, kNull, kNoThread, kNull, recording::ClassId{}, int64_t{0}});
  file.event(
      Event::kThreadPark, 5'000'002'000,
      {int64_t{50}, a, file.stack("park"), recording::ClassId{}, kNone, kNone, int64_t{0}, int64_t{0}, int64_t{3},
       kNoThread, int64_t{1}, kNull, kNoThread, std::string_view("timeout"), klass, int64_t{0x12ab}});
  file.event(Event::kUnpark, 5'000'001'300, {b, file.stack("unpark"), a, int64_t{1}, kNull, kNoThread});
  const Model model = file.load();
  const LockEvents& locks = model.locks;
  const auto name = [&](ThreadIndex thread) { return model.threads[thread.value].name; };
  const auto method = [&](StackIndex stack) { return model.methods[model.stacks[stack.value].method.value].name; };

  ASSERT_EQ(locks.enters.size(), 1U);
  const MonitorEnter& enter = locks.enters[0];
  EXPECT_EQ(enter.begin_ns - model.clock_offset_ns, 5'000'000'000);  // on the clock that stamped it
  EXPECT_EQ(enter.end_ns - enter.begin_ns, 300);
  EXPECT_EQ(enter.sequence, 2);
  EXPECT_EQ(name(enter.thread), "B");
  EXPECT_EQ(name(enter.previous_owner), "A");
  EXPECT_EQ(method(enter.stack), "p.C.enter");
  EXPECT_TRUE(enter.after_wait);
  EXPECT_TRUE(enter.entered);
  EXPECT_FALSE(enter.previous_at_end);
  EXPECT_EQ(enter.period.generation, 7);
  EXPECT_EQ(lock_name(model, enter.period.lock), "p.Lock@12ab");

  ASSERT_EQ(locks.exits.size(), 2U);
  EXPECT_EQ(locks.exits[0].period, enter.period);
  EXPECT_EQ(locks.exits[0].time_ns - enter.begin_ns, 200);
  EXPECT_EQ(locks.exits[0].sequence, 1);
  EXPECT_EQ(name(locks.exits[0].next_owner), "B");
  EXPECT_EQ(method(locks.exits[0].stack), "p.C.leave");
  EXPECT_EQ(locks.exits[1].stack, StackIndex(0));
  EXPECT_EQ(locks.exits[1].next_owner, kNobody);

  ASSERT_EQ(locks.parks.size(), 2U);
  EXPECT_EQ(lock_name(model, locks.parks[0].blocker), "p.Lock@34");
  EXPECT_EQ(locks.parks[0].number, 2U);
  EXPECT_EQ(locks.parks[1].end_sequence, 0);  // it was still parked
  EXPECT_EQ(locks.parks[0].end_ns - locks.parks[0].begin_ns, 400);
  EXPECT_EQ(name(locks.parks[0].owner), "B");
  EXPECT_EQ(locks.parks[1].blocker, kNoLock);
  EXPECT_EQ(locks.parks[1].owner, kNobody);
  EXPECT_EQ(locks.parks[0].condition_of, kNoLock);
  EXPECT_EQ(lock_name(model, locks.parks[1].condition_of), "p.Lock@12ab");

  ASSERT_EQ(locks.unparks.size(), 1U);
  EXPECT_EQ(name(locks.unparks[0].thread), "B");
  EXPECT_EQ(name(locks.unparks[0].target), "A");
  EXPECT_EQ(locks.unparks[0].number, 1U);
  EXPECT_LT(locks.parks[0].sequence, locks.unparks[0].sequence);
  EXPECT_LT(locks.unparks[0].sequence, locks.parks[0].end_sequence);
  EXPECT_EQ(method(locks.unparks[0].stack), "p.C.unpark");
  EXPECT_TRUE(locks.has_owners());
}

TEST(LoaderLocks, reads_who_held_a_lock_of_several) {
  OwnRecording file;
  const auto a = file.thread(1, "A");
  const auto klass = file.writer().klass("p/Lock");
  const auto hold = [&](int64_t begin, int64_t duration, int64_t from_before, std::string_view failure) {
    const auto stack = failure.data() == nullptr ? file.stack("leave") : recording::StackId{};
    file.event(Event::kLockHold, begin,
               {duration, a, stack, klass, int64_t{0x34}, std::string_view("permit"), from_before, int64_t{0}, failure,
                kNoThread});
  };
  hold(5'000'000'000, 300, 0, kNull);
  hold(5'000'000'400, 0, 1, kNull);
  hold(5'000'000'500, 100, 0, "no Java frame");
  const Model model = file.load();
  const auto& holds = model.locks.holds;
  ASSERT_EQ(holds.size(), 3U);
  EXPECT_EQ(holds[0].begin_ns - model.clock_offset_ns, 5'000'000'000);
  EXPECT_EQ(holds[0].end_ns - holds[0].begin_ns, 300);
  EXPECT_EQ(model.threads[holds[0].thread.value].name, "A");
  EXPECT_EQ(lock_name(model, holds[0].lock), "p.Lock@34");
  EXPECT_EQ(model.methods[model.stacks[holds[0].stack.value].method.value].name, "p.C.leave");
  EXPECT_FALSE(holds[0].from_before);
  EXPECT_TRUE(holds[1].from_before);
  EXPECT_EQ(holds[1].end_ns - holds[0].begin_ns, 400);
  EXPECT_LT(holds[1].begin_ns, holds[0].begin_ns - 1'000'000'000'000) << "since when is not known";
  EXPECT_EQ(holds[2].stack, StackIndex(0));
}

Model load_chunk(const TestChunk& chunk) {
  const auto bytes = encode_chunk(chunk);
  LockPass locks;
  Loader loader(locks);
  auto file = recording::Recording::over(bytes);
  const auto summary = (*file)->read(loader);
  EXPECT_TRUE(summary.ok());
  return loader.finish(*summary);
}

TestChunk chunk_of_jfr(int64_t start, int64_t duration) {
  TestChunk chunk;
  chunk.stacks[1] = {{"p/Lock", "leaf", 7}};
  chunk.threads[1] = {10, 1, "A"};
  chunk.threads[2] = {11, 2, "B"};
  chunk.events = {{"jdk.JavaMonitorEnter",
                   start,
                   {{"duration", duration},
                    {"eventThread", ConstantOf{1}},
                    {"stackTrace", ConstantOf{1}},
                    {"monitorClass", ConstantOf{1}},
                    {"previousOwner", ConstantOf{2}},
                    {"address", int64_t{0xbeef}}}},
                  {"jdk.ThreadPark",
                   start,
                   {{"duration", duration},
                    {"eventThread", ConstantOf{1}},
                    {"stackTrace", ConstantOf{1}},
                    {"parkedClass", ConstantOf{1}},
                    {"address", int64_t{0xcafe}}}}};
  return chunk;
}

TEST(LoaderLocks, recordings_of_jfr_know_the_last_owner_and_the_address) {
  const Model model = load_chunk(chunk_of_jfr(1'000'100, 50));
  ASSERT_EQ(model.locks.enters.size(), 1U);
  const MonitorEnter& enter = model.locks.enters[0];
  EXPECT_TRUE(enter.previous_at_end);
  EXPECT_EQ(model.threads[enter.previous_owner.value].name, "B");
  EXPECT_EQ(enter.end_ns, 1'000'150);
  EXPECT_EQ(lock_name(model, model.locks.enters[0].period.lock), "p.Lock@beef");
  ASSERT_EQ(model.locks.parks.size(), 1U);
  EXPECT_EQ(lock_name(model, model.locks.parks[0].blocker), "p.Lock@cafe");
  EXPECT_FALSE(model.locks.has_owners());
}

TEST(LoaderLocks, absurd_times_do_no_harm) {
  for (const int64_t start : {INT64_MIN, int64_t{0}, INT64_MAX}) {
    for (const int64_t duration : {INT64_MIN, int64_t{-1}, INT64_MAX}) {
      const Model model = load_chunk(chunk_of_jfr(start, duration));
      const MonitorEnter& enter = model.locks.enters[0];
      const ThreadPark& park = model.locks.parks[0];
      EXPECT_LE(enter.begin_ns, enter.end_ns);
      int64_t sum = 0;
      EXPECT_FALSE(__builtin_add_overflow(enter.end_ns - enter.begin_ns, park.end_ns - park.begin_ns, &sum));
    }
  }
}

}  // namespace
}  // namespace tarsier::analysis
