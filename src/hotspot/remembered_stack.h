// The last stack of a thread, with all that its walk has read of the thread's memory. A later walk that comes by one of
// its frames, and finds everything from there on as it was, need not go on: outer frames stay while inner ones come and
// go.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hotspot/walked_stack.h"

namespace tarsier::hotspot {

class RememberedStack {
 public:
  // `stack`: of a walk that was given this one.
  void keep(const WalkedStack& stack);
  void clear();
  // Of the steps, how many of the outermost have code that was found to be there in this moment of the blobs.
  [[nodiscard]] size_t seen(uint64_t moment) const { return moment != 0 && moment == seen_at_ ? seen_ : 0; }
  void set_seen(uint64_t moment, size_t steps) {
    seen_at_ = moment;
    seen_ = steps;
  }

  // All outermost first. Of the words and frames each step has as many as it says.
  [[nodiscard]] std::span<const WalkStep> steps() const { return steps_; }
  [[nodiscard]] std::span<const WalkedWord> words() const { return words_; }
  [[nodiscard]] std::span<const WalkedFrame> frames() const { return frames_; }
  // What the checks of all calls between these frames have said: how many, by Edge.
  [[nodiscard]] uint32_t edges(Edge which) const {
    return edges_.empty() ? 0 : static_cast<uint32_t>(edges_.back() >> shift_of(which)) & ((1U << kEdgeBits) - 1);
  }
  [[nodiscard]] uint64_t epoch() const { return epoch_; }
  [[nodiscard]] Address highest() const { return highest_; }
  // Leaves the outermost ones.
  void shorten(size_t steps);

  [[nodiscard]] size_t memory_used() const {
    return steps_.capacity() * sizeof(WalkStep) + words_.capacity() * sizeof(WalkedWord) +
           frames_.capacity() * sizeof(WalkedFrame) + edges_.capacity() * sizeof(uint64_t);
  }

 private:
  static constexpr int kEdgeBits = 21;
  static int shift_of(Edge which) { return static_cast<int>(which) * kEdgeBits; }
  // Of one frame more, that was called by the last one.
  [[nodiscard]] uint64_t edges_with(const WalkedFrame& callee) const {
    if (frames_.empty()) return 0;
    const bool by_bytecodes = callee.kind != FrameKind::kLibrary && frames_.back().kind != FrameKind::kLibrary;
    return edges_.back() + (by_bytecodes ? uint64_t{1} << shift_of(callee.call_of) : 0);
  }

  std::vector<WalkStep> steps_;
  std::vector<WalkedWord> words_;
  std::vector<WalkedFrame> frames_;
  // Of each frame: of the calls between it and those outside of it. Three numbers in one word, since there is one to be
  // counted with every frame.
  std::vector<uint64_t> edges_;
  uint64_t epoch_ = 0;
  Address highest_ = 0;
  uint64_t seen_at_ = 0;
  size_t seen_ = 0;
};

}  // namespace tarsier::hotspot
