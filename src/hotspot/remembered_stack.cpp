#include "hotspot/remembered_stack.h"

#include <algorithm>

namespace tarsier::hotspot {

void RememberedStack::clear() {
  steps_.clear();
  words_.clear();
  frames_.clear();
  edges_.clear();
  seen_ = 0;
}

void RememberedStack::shorten(size_t steps) {
  while (steps_.size() > steps) {
    words_.resize(words_.size() - steps_.back().words);
    frames_.resize(frames_.size() - steps_.back().frames);
    edges_.resize(frames_.size());
    steps_.pop_back();
  }
  seen_ = std::min(seen_, steps_.size());
}

void RememberedStack::keep(const WalkedStack& stack) {
  // Of one that was cut off nothing is known about its outer frames: what is remembered of them may still be right.
  if (stack.end == WalkEnd::kTooShort && !stack.is_virtual) return;
  const bool any = !stack.steps.empty() || stack.reused > 0;
  if (stack.end != WalkEnd::kComplete || stack.is_virtual || !stack.certain || !stack.epoch || !any) return clear();
  if (stack.reused == 0) clear();
  size_t word = stack.words.size();
  size_t frame = stack.new_frames();
  for (size_t i = stack.steps.size(); i-- > 0;) {
    const WalkStep& step = stack.steps[i];
    steps_.push_back(step);
    word -= step.words;
    frame -= step.frames;
    words_.insert(words_.end(), stack.words.begin() + static_cast<ptrdiff_t>(word),
                  stack.words.begin() + static_cast<ptrdiff_t>(word + step.words));
    for (size_t j = frame + step.frames; j-- > frame;) {
      edges_.push_back(edges_with(stack.frames[j]));
      frames_.push_back(stack.frames[j]);
      frames_.back().blob = nullptr;  // it may go
      frames_.back().kept = nullptr;
    }
  }
  set_seen(stack.moment, steps_.size());
  epoch_ = *stack.epoch;
  highest_ = stack.highest;
}

}  // namespace tarsier::hotspot
