// Samples of ourselves by perf's rings, without a JVM: a few words stand in for a JavaThread, the ticks are real.
#include "agent/engines/ring_capture.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include "agent/engines/seen_epochs.h"
#include "agent/engines/stack_demand.h"
#include "base/clock.h"

namespace tarsier::agent {
namespace {

using capture::FragmentRecord;

constexpr uint64_t kWitness = 0x1234567890abcdef;

TEST(StackDemand, grows_at_once_and_shrinks_when_much_was_not_needed_for_long) {
  StackDemand demand;
  EXPECT_EQ(demand.size(), StackDemand::kAtFirst);
  for (int i = 0; i < 199; ++i) EXPECT_FALSE(demand.needs(5000));
  EXPECT_TRUE(demand.needs(5000));
  EXPECT_EQ(demand.size(), 8u << 10);
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(demand.needs(5000));
  EXPECT_TRUE(demand.needs(20'000));
  EXPECT_EQ(demand.size(), 24u << 10);
  EXPECT_TRUE(demand.needs(1 << 20));
  EXPECT_EQ(demand.size(), linux::PerfSampler::kMostStack);
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(demand.needs(1 << 20)) << "there is no larger one";
}

TEST(SeenEpochs, an_epoch_that_was_the_same_before_and_after_is_certain) {
  SeenEpochs seen;
  seen.saw(100, 7);
  seen.saw(200, 9);
  EXPECT_EQ(seen.at(150, 9).epoch, 7u);
  EXPECT_EQ(seen.at(150, 9).doubt, 2u);
  EXPECT_EQ(seen.at(200, 9).epoch, 9u);
  EXPECT_EQ(seen.at(250, 9).doubt, 0u);
  EXPECT_EQ(seen.at(250, 12).doubt, 3u);
  EXPECT_EQ(seen.at(50, 9).epoch, 0u);  // nobody has looked
  EXPECT_EQ(seen.at(50, 9).doubt, 9u);
}

// The kernel may be kept from writing for long what it took.
TEST(SeenEpochs, a_sample_that_arrives_very_late_is_as_certain) {
  SeenEpochs seen;
  for (uint64_t time = 100; time < 200; ++time) seen.saw(time, 7);
  EXPECT_EQ(seen.at(110, 7).epoch, 7u);
  EXPECT_EQ(seen.at(110, 7).doubt, 0u);
  seen.saw(200, 8);
  EXPECT_EQ(seen.at(110, 8).epoch, 7u);
}

struct Sample {
  uint64_t time_ns, weight_ns;
  uint32_t thread;
  hotspot::Fragment fragment;
  std::vector<uint64_t> stack;
};

class RingCaptureTest : public testing::Test {
 protected:
  // Rings so large that a busy machine may keep the mover waiting.
  void open(RingCapture::Options options = {millis(1), false, 1 << 26, 1 << 24}) {
    hotspot::ThreadFields fields{};
    fields.stack_base = 48;
    fields.unloaded = &unloaded_;
    fields.unloaded_shared = &unloaded_shared_;
    auto capture = RingCapture::open(fields, options);
    if (!capture) GTEST_SKIP() << capture.error().what;
    capture_ = std::move(*capture);
    ASSERT_TRUE(capture_->start());
  }
  JavaThread self(uint32_t serial = 42) {
    JavaThread thread;
    thread.serial = serial;
    thread.tid = ::gettid();
    thread.java_thread = reinterpret_cast<const uint8_t*>(java_thread_);
    return thread;
  }
  template <class Work>
  static void burn(Nanos time, Work&& work) {
    const Nanos end = clock_now(CLOCK_THREAD_CPUTIME_ID) + time;
    while (clock_now(CLOCK_THREAD_CPUTIME_ID) < end) {
      // In user mode, mostly: only that is sampled.
      for (int i = 0; i < 10'000; ++i) work();
    }
  }
  std::vector<Sample> finish() {
    capture_->silence();
    capture_->finish();
    std::vector<Sample> samples;
    capture_->consume(
        [&](const FragmentRecord& record) {
          Sample sample{record.time_ns, record.weight_ns, record.thread, record.fragment(), {}};
          sample.stack.resize(sample.fragment.stack_bytes / 8);
          if (!sample.stack.empty()) {
            std::memcpy(sample.stack.data(), record.fragment().stack(), sample.fragment.stack_bytes);
          }
          samples.push_back(std::move(sample));
        },
        SIZE_MAX);
    return samples;
  }
  EngineStats stats() {
    EngineStats stats;
    capture_->add_to(stats);
    return stats;
  }

  uint64_t unloaded_ = 5, unloaded_shared_ = 6;
  uint64_t java_thread_[8] = {};
  std::unique_ptr<RingCapture> capture_;
};

TEST_F(RingCaptureTest, a_sample_has_registers_and_the_stack_up_to_its_base) {
  open();
  if (IsSkipped()) return;
  volatile uint64_t room[512];
  for (volatile uint64_t& one : room) one = 1;
  room[300] = kWitness;
  java_thread_[6] = reinterpret_cast<uint64_t>(room + 512);
  const JavaThread thread = self();
  const Nanos before = monotonic_now();
  ASSERT_TRUE(capture_->thread_started(thread));
  burn(millis(150), [&] { room[0] = room[0] + 1; });
  capture_->thread_ended(thread);
  const auto samples = finish();
  const Nanos after = monotonic_now();
  ASSERT_GT(samples.size(), 20u);
  EXPECT_EQ(stats().taken, samples.size() + stats().dropped_in_all());
  uint64_t weight = 0;
  for (const Sample& sample : samples) {
    weight += sample.weight_ns;
    EXPECT_EQ(sample.thread, 42u);
    EXPECT_GE(sample.time_ns, static_cast<uint64_t>(before.count));
    EXPECT_LE(sample.time_ns, static_cast<uint64_t>(after.count));
    const hotspot::Fragment& fragment = sample.fragment;
    EXPECT_NE(fragment.pc, 0u);
    EXPECT_EQ(fragment.thread_state, hotspot::kThreadStateUnknown);
    EXPECT_EQ(fragment.epoch, 11u);
    EXPECT_EQ(fragment.epoch_doubt(), 0u);
    EXPECT_FALSE(fragment.cut);
#if defined(__aarch64__)
    EXPECT_EQ(fragment.fp, fragment.general[29]);
#else
    EXPECT_EQ(fragment.fp, fragment.general[6]);
    EXPECT_EQ(fragment.sp, fragment.general[7]);
#endif
    EXPECT_EQ(fragment.sp + fragment.stack_bytes, java_thread_[6]);
    EXPECT_NE(std::find(sample.stack.begin(), sample.stack.end(), kWitness), sample.stack.end());
  }
  // A busy machine takes ticks away (steal), and those in the kernel are none; nothing adds any.
  const uint64_t lost = 1'000'000 * stats().dropped_in_all();  // of a user who may lock little memory
  EXPECT_GT(weight + lost, 75'000'000u);
  EXPECT_LT(weight + lost, 225'000'000u);
}

TEST_F(RingCaptureTest, as_much_is_copied_as_stacks_are_deep) {
  open({micros(500), false, 1 << 26, 1 << 24});
  if (IsSkipped()) return;
  volatile uint8_t room[80 << 10];
  for (volatile uint8_t& one : room) one = 1;
  const auto begin = reinterpret_cast<uint64_t>(room);
  java_thread_[6] = begin + sizeof(room);
  const JavaThread deep = self(1);
  ASSERT_TRUE(capture_->thread_started(deep));
  burn(millis(40), [&] { room[0] = room[0] + 1; });
  capture_->thread_ended(deep);
  java_thread_[6] = begin + (20 << 10);
  const JavaThread flat = self(2);
  ASSERT_TRUE(capture_->thread_started(flat));
  burn(millis(40), [&] { room[0] = room[0] + 1; });
  capture_->bottoms().learn(2, begin + 4096);
  burn(millis(40), [&] { room[0] = room[0] + 1; });
  capture_->thread_ended(flat);
  size_t cut = 0, most = 0, of_deep = 0, up_to_bottom = 0, of_flat = 0;
  for (const Sample& sample : finish()) {
    const hotspot::Fragment& fragment = sample.fragment;
    if (sample.thread == 1) {
      ++of_deep;
      cut += fragment.cut ? 1 : 0;
      most = std::max<size_t>(most, fragment.stack_bytes);
    } else {
      ++of_flat;
      EXPECT_FALSE(fragment.cut);
      up_to_bottom += fragment.sp + fragment.stack_bytes == begin + 4096 ? 1 : 0;
    }
  }
  EXPECT_GT(of_deep, 20u);
  EXPECT_EQ(cut, of_deep);
  EXPECT_EQ(most, linux::PerfSampler::kMostStack) << "more is asked for when it is needed";
  EXPECT_GT(of_flat, 20u);
  EXPECT_GT(up_to_bottom, 10u);
}

TEST_F(RingCaptureTest, what_finds_no_room_is_dropped_and_counted) {
  // Ours is too small for more than a few.
  open({micros(100), false, 1 << 16, 1 << 18});
  if (IsSkipped()) return;
  volatile uint8_t room[16 << 10];
  for (volatile uint8_t& one : room) one = 1;
  java_thread_[6] = reinterpret_cast<uint64_t>(room) + sizeof(room);
  const JavaThread thread = self();
  ASSERT_TRUE(capture_->thread_started(thread));
  burn(millis(100), [&] { room[0] = room[0] + 1; });
  capture_->thread_ended(thread);
  const auto samples = finish();
  EXPECT_GT(samples.size(), 0u);
  EXPECT_GT(stats().dropped["ring full"] + stats().dropped["perf ring full"], 10u);
  EXPECT_EQ(stats().taken, samples.size() + stats().dropped_in_all());
}

TEST_F(RingCaptureTest, an_epoch_that_changes_meanwhile_is_in_doubt) {
  open();
  if (IsSkipped()) return;
  volatile uint64_t room[512];
  for (volatile uint64_t& one : room) one = 1;
  java_thread_[6] = reinterpret_cast<uint64_t>(room + 512);
  std::atomic_ref(unloaded_).store(static_cast<uint64_t>(monotonic_now().count / 1000), std::memory_order_relaxed);
  ASSERT_TRUE(capture_->thread_started(self()));
  const Nanos end = clock_now(CLOCK_THREAD_CPUTIME_ID) + millis(100);
  while (clock_now(CLOCK_THREAD_CPUTIME_ID) < end) {
    std::atomic_ref(unloaded_).store(static_cast<uint64_t>(monotonic_now().count / 1000), std::memory_order_relaxed);
    for (int i = 0; i < 10'000; ++i) room[0] = room[0] + 1;
  }
  const auto samples = finish();
  ASSERT_GT(samples.size(), 10u);
  size_t in_doubt = 0;
  for (const Sample& sample : samples) {
    EXPECT_LE(sample.fragment.epoch, sample.time_ns / 1000 + unloaded_shared_) << "it was that later";
    in_doubt += sample.fragment.epoch_doubt() > 0 ? 1 : 0;
  }
  EXPECT_GT(in_doubt, samples.size() / 2);
}

TEST_F(RingCaptureTest, each_thread_has_its_own_samples_and_none_when_it_is_over) {
  open();
  if (IsSkipped()) return;
  volatile uint64_t room[512];
  for (volatile uint64_t& one : room) one = 1;
  java_thread_[6] = reinterpret_cast<uint64_t>(room + 512);
  std::thread other([&] {
    volatile uint64_t rooms[512];
    for (volatile uint64_t& one : rooms) one = 1;
    uint64_t words[8] = {};
    words[6] = reinterpret_cast<uint64_t>(rooms + 512);
    JavaThread thread = self(7);
    thread.java_thread = reinterpret_cast<const uint8_t*>(words);
    EXPECT_TRUE(capture_->thread_started(thread));
    burn(millis(50), [&] { rooms[0] = rooms[0] + 1; });
    capture_->thread_ended(thread);
    burn(millis(50), [&] { rooms[0] = rooms[0] + 1; });
  });
  ASSERT_TRUE(capture_->thread_started(self(8)));
  burn(millis(50), [&] { room[0] = room[0] + 1; });
  other.join();
  uint64_t weight = 0, others = 0;
  for (const Sample& sample : finish()) (sample.thread == 8 ? weight : others) += sample.weight_ns;
  EXPECT_GT(weight, 20'000'000u);
  EXPECT_GT(others, 20'000'000u);
  EXPECT_LT(others, 90'000'000u) << "it was no longer sampled";
}

TEST_F(RingCaptureTest, the_applications_descriptors_are_left_to_it) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{std::min<rlim_t>(64, before.rlim_max), before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  open();
  if (!IsSkipped()) {
    java_thread_[6] = 4096;
    int followed = 0;
    for (uint32_t serial = 1; serial <= 100; ++serial) {
      JavaThread thread = self(serial);
      followed += capture_->thread_started(thread) ? 1 : 0;
    }
    EXPECT_LE(followed, 8);
    EXPECT_EQ(stats().counters["threads without a clock"], 100 - followed);
    EXPECT_FALSE(capture_->warnings().empty());
    (void)finish();
  }
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

}  // namespace
}  // namespace tarsier::agent
