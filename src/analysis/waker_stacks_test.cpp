#include "analysis/waker_stacks.h"

#include <gtest/gtest.h>

#include <string>

#include "analysis/model_maker.h"

namespace tarsier::analysis {
namespace {

std::string text_of(const Model& model, StackIndex stack) {
  std::string text;
  for (uint32_t node = stack.value; node != 0; node = model.stacks[node].parent.value) {
    text = model.methods[model.stacks[node].method.value].name + (text.empty() ? "" : ";") + text;
  }
  return text;
}

TEST(WakerStacks, the_waker_stands_on_its_head_above_who_waited) {
  ModelMaker maker;
  maker.model.profile = Profile::kWaits;
  const ThreadIndex a = maker.thread("A"), b = maker.thread("B");
  maker.model.waker_processes = {"postgres"};
  const auto wait = [&](const char* stack, WokenBy by, const char* waker_stack) {
    maker.sample(a, stack, 10);
    WaitInfo info;
    info.woken_by = by;
    info.has_waker = by == WokenBy::kThread || by == WokenBy::kJvm;
    info.waker = b;
    info.waker_stack = maker.stack(waker_stack);
    maker.model.waits.push_back(info);
  };
  wait("run;park", WokenBy::kThread, "main;wakes;unpark");
  wait("run;park", WokenBy::kThread, "main;wakes;unpark");
  wait("run;park", WokenBy::kJvm, "");
  wait("run;read", WokenBy::kProcess, "");
  wait("run;sleep", WokenBy::kInterrupt, "");
  wait("run;park", WokenBy::kOngoing, "");
  wait("run;park", WokenBy::kUnknown, "");
  Model& model = maker.model;
  put_wakers_on_top(model);
  const char* expected[] = {"run;park;[woken by];unpark;wakes;main;[thread B]",
                            "run;park;[woken by];unpark;wakes;main;[thread B]",
                            "run;park;[woken by];[thread B]",
                            "run;read;[woken by];[process postgres]",
                            "run;sleep;[woken by an interrupt]",
                            "run;park;[not woken yet]",
                            "run;park;[woken by nobody knows whom]"};
  ASSERT_EQ(model.samples.size(), std::size(expected));
  for (size_t i = 0; i < std::size(expected); ++i) {
    EXPECT_EQ(text_of(model, model.samples[i].stack), expected[i]);
    EXPECT_EQ(model.samples[i].weight, 10);
  }
  EXPECT_EQ(model.samples[0].stack, model.samples[1].stack);
  for (uint32_t node = 1; node < model.stacks.size(); ++node) EXPECT_LT(model.stacks[node].parent.value, node);
}

TEST(WakerStacks, other_profiles_are_left_as_they_are) {
  ModelMaker maker;
  maker.sample(maker.thread("A"), "run;burn", 10);
  put_wakers_on_top(maker.model);
  EXPECT_EQ(text_of(maker.model, maker.model.samples[0].stack), "run;burn");
}

}  // namespace
}  // namespace tarsier::analysis
