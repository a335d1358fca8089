// The locks of a recording that is still being made: what threads are blocked by now.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/loader.h"
#include "analysis/lock_pass.h"
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
  uint64_t skipped = 0;  // events that came faster than they could be read, since the start
};

class LiveLocks {
 public:
  explicit LiveLocks(const std::string& path);

  // Reads what was flushed since the last time. `now_ns`, since the epoch.
  Status look(int64_t now_ns);
  std::vector<recording::ByteRange> take_passed() { return tail_.take_passed(); }
  // What became known since this was asked the last time: it happened some seconds ago.
  LiveTop take_top(size_t rows);
  // After the last look, with all that is left: the verdict's sentence on the whole time; empty if there is none.
  std::string finish(LiveTop& rest, size_t rows);

 private:
  void begin();
  LiveTop top_of(const LockProfile& profile, const AspectKeys& keys, size_t rows) const;

  recording::Tail tail_;
  std::unique_ptr<LockPass> pass_;
  std::unique_ptr<Loader> loader_;
};

}  // namespace tarsier::analysis
