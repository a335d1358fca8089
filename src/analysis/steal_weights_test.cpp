#include "analysis/steal_weights.h"

#include <gtest/gtest.h>

#include "analysis/model_maker.h"

namespace tarsier::analysis {
namespace {

class StealWeights : public testing::Test {
 protected:
  StealWeights() {
    maker.model.machine = MachineCpu();
    maker.model.machine->steal_in_cpu_time = true;
  }

  // After so many seconds it had used and lost so much, in all.
  void account(ThreadIndex thread, int second, Nanos cpu, Nanos steal) {
    maker.model.steal_points[thread].push_back({maker.model.start_ns + seconds(second).count, cpu, steal});
    Thread& told = maker.model.threads[thread.value];
    told.cpu = cpu;
    told.resources.values[static_cast<size_t>(Resource::kSteal)] = steal.count;
  }

  ModelMaker maker;
};

TEST_F(StealWeights, follow_what_was_stolen_from_the_thread_when_the_sample_was_taken) {
  const ThreadIndex a = maker.thread("a"), b = maker.thread("b");
  account(a, 1, seconds(1), Nanos(0));
  account(a, 2, seconds(2), millis(750));
  account(a, 3, seconds(3), millis(750));
  account(b, 3, seconds(3), Nanos(0));
  for (const int tenths : {5, 15, 25, 40}) maker.sample(a, "run", 1000, millis(100) * tenths);
  maker.sample(b, "run", 1000, millis(1500));
  maker.model.machine->process_cpu = seconds(5);
  maker.model.machine->steal_of_threads = millis(750);
  ASSERT_TRUE(correct_for_steal(maker.model).ok());
  const Samples& samples = maker.model.samples;
  EXPECT_EQ(samples[0].weight, 1000);
  EXPECT_EQ(samples[1].weight, 250);
  EXPECT_EQ(samples[2].weight, 1000);
  EXPECT_EQ(samples[3].weight, 1000) << "after the last account";
  EXPECT_EQ(samples[4].weight, 1000) << "nothing was taken from that one";
  EXPECT_EQ(maker.model.threads[a.value].cpu, millis(2250));
  EXPECT_EQ(maker.model.machine->process_cpu, millis(4250));
  EXPECT_FALSE(maker.model.machine->steal_in_cpu_time) << "nobody shall subtract it twice";
}

TEST_F(StealWeights, of_threads_without_an_account_are_those_of_all) {
  const ThreadIndex carrier = maker.thread("carrier"), virtual_thread = maker.thread("virtual");
  account(carrier, 1, seconds(1), millis(250));
  maker.sample(virtual_thread, "run", 1000, millis(500));
  ASSERT_TRUE(correct_for_steal(maker.model).ok());
  EXPECT_EQ(maker.model.samples[0].weight, 750);
}

TEST_F(StealWeights, stay_where_the_kernel_keeps_stolen_time_out_of_cpu_time) {
  maker.model.machine->steal_in_cpu_time = false;
  const ThreadIndex a = maker.thread("a");
  account(a, 1, seconds(1), millis(250));
  maker.sample(a, "run", 1000, millis(500));
  ASSERT_TRUE(correct_for_steal(maker.model).ok());
  EXPECT_EQ(maker.model.samples[0].weight, 1000);
  EXPECT_EQ(maker.model.threads[a.value].cpu, seconds(1));
}

TEST_F(StealWeights, need_a_recording_that_knows_of_it) {
  maker.model.machine.reset();
  EXPECT_EQ(correct_for_steal(maker.model).error().code, Errc::kUsage);
}

}  // namespace
}  // namespace tarsier::analysis
