// A contention is one interval in which a thread was blocked by a lock, or parked. It is cut into pieces wherever the
// lock changed its owner.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "analysis/lock_events.h"

namespace tarsier::analysis {

enum class LockGroup : uint8_t { kMonitor, kJuc, kCondition, kOther, kCount };

// Who held the lock: nothing of it is ever guessed.
struct Owner {
  enum class Kind : uint8_t {
    kChain,    // the thread, and its call chain when it let go; if that was not seen, when it entered
    kThread,   // the thread; its release was not seen
    kHandOff,  // nobody, or the next one, who had not woken up yet
    kUnknown,
    kCount,
  };
  Kind kind = Kind::kUnknown;
  ThreadIndex thread = kNobody;
  StackIndex stack{};

  bool operator==(const Owner&) const = default;

  static Owner unknown() { return {}; }
  static Owner hand_off() { return {.kind = Kind::kHandOff}; }
  static Owner only_thread(ThreadIndex thread) { return {.kind = Kind::kThread, .thread = thread}; }
  // A release without a stack tells the thread.
  static Owner released(ThreadIndex thread, StackIndex stack) {
    return {.kind = stack == StackIndex(0) ? Kind::kThread : Kind::kChain, .thread = thread, .stack = stack};
  }
};

struct Piece {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  Owner owner{};
  bool operator==(const Piece&) const = default;
};

struct Contention {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  LockIndex lock = kNoLock;
  ThreadIndex thread{};
  StackIndex stack{};
  LockGroup group = LockGroup::kOther;
  bool after_wait = false;
};

// The pieces lie end to end, cover the whole interval, and there is at least one.
using ContentionSink = std::function<void(const Contention&, std::span<const Piece>)>;

// The pieces of one contention while they are being found: in order of time, equal neighbours joined.
class PieceList {
 public:
  void start(const Contention& contention) {
    thread_ = contention.thread;
    end_ = contention.end_ns;
    at_ = contention.begin_ns;
    instant_ = at_ == end_;
    pieces_.clear();
  }
  [[nodiscard]] bool complete() const { return at_ >= end_ && !pieces_.empty(); }
  // From where the last one ended; an earlier `end` adds nothing, a later one than the contention's is cut.
  void until(int64_t end, Owner owner) {
    if (end <= at_ && !(instant_ && pieces_.empty())) return;
    end = std::clamp(end, at_, end_);
    // Nobody waits for himself: whatever says so is wrong.
    if (owner.thread == thread_) owner = Owner::unknown();
    if (end == at_ && !(instant_ && pieces_.empty())) return;
    if (pieces_.empty() || pieces_.back().owner != owner) {
      // In its place: a copy of what was written just before is slow, and there are many pieces.
      Piece& piece = pieces_.emplace_back();
      piece.begin_ns = at_;
      piece.owner = owner;
    }
    pieces_.back().end_ns = end;
    at_ = end;
  }
  [[nodiscard]] std::span<const Piece> pieces() const { return pieces_; }

 private:
  ThreadIndex thread_{};
  int64_t at_ = 0, end_ = 0;
  bool instant_ = false;  // the contention
  std::vector<Piece> pieces_;
};

// Pieces can be as many as threads times events. Past this budget a contention stays whole, without an owner: hostile
// files end, too.
class PieceBudget {
 public:
  static constexpr uint64_t kDefault = 200'000'000;
  explicit PieceBudget(uint64_t pieces = kDefault) : left_(pieces) {}
  // False: the contention must stay whole.
  bool take() {
    if (left_ == 0) return false;
    --left_;
    return true;
  }
  [[nodiscard]] bool used_up() const { return left_ == 0; }

 private:
  uint64_t left_;
};

}  // namespace tarsier::analysis
