#include "agent/agct_agreement.h"

#include <gtest/gtest.h>

namespace tarsier::agent {
namespace {

using capture::AgctFrame;
using hotspot::FrameKind;

struct At {
  uint64_t method;
  int32_t bci;
  FrameKind kind = FrameKind::kC2;
};

hotspot::WalkedStack ours(std::initializer_list<At> frames) {
  hotspot::WalkedStack stack;
  stack.end = hotspot::WalkEnd::kComplete;
  for (const At& at : frames) {
    hotspot::WalkedFrame frame;
    frame.kind = at.kind;
    frame.method = at.method;
    frame.bci = at.bci;
    static const hotspot::MethodInfo kLoaded{};
    frame.info = at.kind == FrameKind::kStub || at.kind == FrameKind::kLibrary ? nullptr : &kLoaded;
    stack.frames.push_back(frame);
  }
  return stack;
}

struct Its {
  Its(std::initializer_list<At> told) : result(static_cast<int32_t>(told.size())) {
    for (const At& at : told) frames.push_back({at.bci, reinterpret_cast<void*>(at.method)});
  }
  [[nodiscard]] capture::AgctWitness::Testimony testimony() const { return {result, frames}; }
  int32_t result;
  std::vector<AgctFrame> frames;
};

Agreement judge(const hotspot::WalkedStack& stack, const Its& its) {
  return compare(stack, its.testimony());
}

TEST(AgctAgreement, TheSameFramesWithoutStubsAndLibraries) {
  const auto stack =
      ours({{7, 0, FrameKind::kLibrary}, {8, 0, FrameKind::kStub}, {1, 4}, {2, -1, FrameKind::kNative}, {3, 9}});
  EXPECT_EQ(judge(stack, {{1, 4}, {2, -3}, {3, 9}}), Agreement::kSame);
}

TEST(AgctAgreement, OtherPlaces) {
  const auto stack = ours({{1, 4}, {2, 5}, {3, 9}});
  EXPECT_EQ(judge(stack, {{1, 6}, {2, 5}, {3, 9}}), Agreement::kOtherBytecode);
  EXPECT_EQ(judge(ours({{1, 4, FrameKind::kInterpreted}, {2, 5}}), {{1, 6}, {2, 5}}), Agreement::kStaleBytecode);
  EXPECT_EQ(judge(stack, {{1, 4}, {2, 6}, {3, 9}}), Agreement::kOtherInnermost);
  EXPECT_EQ(judge(stack, {{1, 4}, {2, 5}, {3, 8}}), Agreement::kDifferent);
  EXPECT_EQ(judge(stack, {{1, 4}, {2, 5}}), Agreement::kEndsEarly);
  EXPECT_EQ(judge(stack, {{1, 3}}), Agreement::kEndsEarly);
  EXPECT_EQ(judge(stack, {{4, 4}, {2, 5}, {3, 9}}), Agreement::kOtherInnermost);
  EXPECT_EQ(judge(stack, {{2, 5}, {3, 9}}), Agreement::kOtherInnermost);
  EXPECT_EQ(judge(stack, {{9, 0}, {1, 4}, {2, 5}, {3, 9}}), Agreement::kOtherInnermost);
  EXPECT_EQ(judge(stack, {{4, 4}, {5, 5}, {6, 9}}), Agreement::kDifferent);
}

TEST(AgctAgreement, OneOfTheTwoDoesNotKnow) {
  Its failed({});
  failed.result = -5;
  EXPECT_EQ(judge(ours({{1, 4}}), failed), Agreement::kNoAnswer);
  EXPECT_EQ(judge(ours({{1, 4}}), {}), Agreement::kNoAnswer);
  EXPECT_EQ(judge(ours({}), {}), Agreement::kSame);
  auto cut = ours({{1, 4}});
  cut.end = hotspot::WalkEnd::kNoSender;
  EXPECT_EQ(judge(cut, {{1, 4}}), Agreement::kIncomplete);
  auto gone = ours({{1, 4}, {2, 5}});
  gone.frames[1].info = nullptr;
  EXPECT_EQ(judge(gone, {{1, 4}, {2, 5}}), Agreement::kUnloaded);
}

}  // namespace
}  // namespace tarsier::agent
