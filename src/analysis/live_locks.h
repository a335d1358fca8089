// The locks of a recording that is still being made: what threads are blocked by now.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/loader.h"
#include "analysis/lock_pass.h"
#include "analysis/look_budget.h"
#include "recording/tail.h"

namespace tarsier::analysis {

struct LiveContention {
  std::string lock, blocked, owner;
  int64_t blocked_ns = 0;
  uint64_t count = 0;
};

struct LiveTop {
  std::vector<LiveContention> rows;  // most time first
  int64_t blocked_ns = 0;            // of all
  uint64_t count = 0;
  // Of the events that there were, so many were read; the others would have cost too much.
  double read_share = 1;   // of those that this is about; of no event, all
  double read_in_all = 1;  // since the start
};

class LiveLocks {
 public:
  explicit LiveLocks(const std::string& path);

  // Reads what was flushed since the last time, as much of it as may be read for kShareOfCpu. `now_ns`, since the
  // epoch.
  Status look(int64_t now_ns);
  // The program has ended, nobody else needs the CPU.
  void read_all() { tail_.read_at_most(recording::Tail::kMostBytes); }
  static constexpr double kShareOfCpu = 0.05;  // of one
  std::vector<recording::ByteRange> take_passed() { return tail_.take_passed(); }
  // What became known since this was asked the last time: it happened some seconds ago.
  LiveTop take_top(size_t rows);
  // After the last look, with all that is left: the verdict's sentence on the whole time; empty if there is none.
  std::string finish(LiveTop& rest, size_t rows);

 private:
  void begin();
  LiveTop top_of(const LockProfile& profile, const AspectKeys& keys, size_t rows) const;

  recording::Tail tail_;
  LookBudget budget_;
  Nanos looked_at_;
  // What became known now happened before the last look, so it is about the events of two.
  struct Events {
    uint64_t read = 0, skipped = 0;
  };
  Events now_, last_, before_;
  std::unique_ptr<LockPass> pass_;
  std::unique_ptr<Loader> loader_;
};

}  // namespace tarsier::analysis
