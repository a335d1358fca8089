#include "agent/agct_agreement.h"

#include <algorithm>
#include <span>

namespace tarsier::agent {
namespace {

using capture::AgctFrame;
using hotspot::FrameKind;
using hotspot::WalkedFrame;

std::vector<const WalkedFrame*> java_frames(const hotspot::WalkedStack& stack) {
  std::vector<const WalkedFrame*> frames;
  for (size_t i = 0; i < stack.size(); ++i) {
    const FrameKind kind = stack.at(i).kind;
    if (kind != FrameKind::kStub && kind != FrameKind::kLibrary) frames.push_back(&stack.at(i));
  }
  return frames;
}

bool same_method(const WalkedFrame& ours, const AgctFrame& its) {
  return ours.method == reinterpret_cast<Address>(its.method);
}
// Native methods are at no bytecode, and before the first one it is recorded as that.
bool same_place(const WalkedFrame& ours, const AgctFrame& its) {
  return same_method(ours, its) && std::max(ours.bci, 0) == std::max(its.bci, 0);
}

std::string text_of(const hotspot::MethodInfo* method, int32_t bci) {
  const std::string name = method == nullptr ? "?" : std::string(method->class_name) + "." + std::string(method->name);
  return name + ":" + std::to_string(bci);
}

// It goes on below a virtual thread.
std::span<const AgctFrame> without_carrier(std::span<const AgctFrame> frames, hotspot::Methods& methods) {
  const auto enters = [&](const AgctFrame& frame) {
    const hotspot::MethodInfo* method = methods.at(reinterpret_cast<Address>(frame.method));
    return method != nullptr && method->name == "enterSpecial" && method->class_name == "jdk/internal/vm/Continuation";
  };
  return frames.first(static_cast<size_t>(std::find_if(frames.begin(), frames.end(), enters) - frames.begin()));
}

}  // namespace

std::string_view name_of(Agreement agreement) {
  constexpr std::string_view kNames[] = {"same",
                                         "other bytecode (interpreted)",
                                         "other bytecode (compiled)",
                                         "other innermost frames",
                                         "its ends early",
                                         "different",
                                         "ours is unloaded",
                                         "ours is incomplete",
                                         "AsyncGetCallTrace failed"};
  static_assert(std::size(kNames) == static_cast<size_t>(Agreement::kCount));
  return kNames[static_cast<size_t>(agreement)];
}

Agreement compare(const hotspot::WalkedStack& ours, const capture::AgctWitness::Testimony& its) {
  const std::vector<const WalkedFrame*> frames = java_frames(ours);
  if (its.result < 0 || (its.result == 0 && !frames.empty())) return Agreement::kNoAnswer;
  if (!ours.complete()) return Agreement::kIncomplete;
  if (std::any_of(frames.begin(), frames.end(), [](const WalkedFrame* frame) { return frame->info == nullptr; })) {
    return Agreement::kUnloaded;
  }
  // From the inner end on.
  const size_t some = std::min(frames.size(), its.frames.size());
  size_t inner = some > 0 && same_method(*frames[0], its.frames[0]) ? 1 : 0;
  while (inner > 0 && inner < some && same_place(*frames[inner], its.frames[inner])) ++inner;
  if (inner == some) {
    const bool its_is_cut = its.frames.size() == static_cast<size_t>(capture::AgctWitness::kDepth);
    const bool at_the_same = some == 0 || same_place(*frames[0], its.frames[0]);
    if (frames.size() == its.frames.size() || its_is_cut) {
      return at_the_same                                  ? Agreement::kSame
             : frames[0]->kind == FrameKind::kInterpreted ? Agreement::kStaleBytecode
                                                          : Agreement::kOtherBytecode;
    }
    if (some < frames.size()) return Agreement::kEndsEarly;
  }
  size_t outer = 0;
  while (outer < some && same_place(*frames[frames.size() - 1 - outer], its.frames[its.frames.size() - 1 - outer])) {
    ++outer;
  }
  // What one compiled method has inlined, at most.
  constexpr size_t kInner = 12;
  const size_t others = std::max(frames.size(), its.frames.size()) - outer;
  return outer > 0 && others <= kInner ? Agreement::kOtherInnermost : Agreement::kDifferent;
}

void AgctAgreement::add(const hotspot::WalkedStack& ours, capture::AgctWitness::Testimony its,
                        hotspot::Methods& methods) {
  if (ours.is_virtual) its.frames = without_carrier(its.frames, methods);
  const Agreement agreement = compare(ours, its);
  uint64_t& count = counts_[static_cast<size_t>(agreement)][static_cast<size_t>(ours.start)];
  constexpr uint64_t kShown = 5;
  constexpr size_t kFrames = 4;
  ++count;
  if (agreement == Agreement::kSame || agreement == Agreement::kNoAnswer || count > kShown) return;
  const std::vector<const WalkedFrame*> frames = java_frames(ours);
  size_t first = 0;  // from there on they differ
  while (first < std::min(frames.size(), its.frames.size()) && same_place(*frames[first], its.frames[first])) ++first;
  std::string text = std::string(name_of(agreement)) + ", at frame " + std::to_string(first) + " of " +
                     std::to_string(frames.size()) + " and " + std::to_string(its.frames.size()) + " (" +
                     std::string(name_of(ours.start)) + ", " + std::string(name_of(ours.end)) + "): ours";
  for (size_t i = first; i < frames.size() && i < first + kFrames; ++i) {
    const FrameKind kind = frames[i]->kind;
    text += " " + text_of(frames[i]->info, frames[i]->bci);
    text += kind == FrameKind::kInterpreted ? " (interpreted)" : kind == FrameKind::kInlined ? " (inlined)" : "";
  }
  text += "; its";
  for (size_t i = first; i < its.frames.size() && i < first + kFrames; ++i) {
    text += " " + text_of(methods.at(reinterpret_cast<Address>(its.frames[i].method)), its.frames[i].bci);
  }
  examples_.push_back(std::move(text));
}

}  // namespace tarsier::agent
