// Who has ended a wait, and if that one had itself been waiting until shortly before, who has ended that, and so on: at
// the end stands whoever really held everything up.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analysis/labels.h"
#include "analysis/model.h"
#include "analysis/selection.h"
#include "analysis/waits.h"

namespace tarsier::analysis {

class Wakeups {
 public:
  // The model must live as long, and not change.
  explicit Wakeups(const Model& model);

  static constexpr size_t kMostHops = 8;
  // A waker that has waited for less than this part of the wait that it ended was not held up: it was at work.
  static constexpr int64_t kLeastPart = 10;

  struct Hop {
    size_t ended;  // the wait, by its index, with the waker of this hop
    // The wait of the waker's own that was over before, and how much of it lies within the first wait of all; nothing:
    // the waker ran all the time, is no Java thread, or not known.
    std::optional<size_t> waited;
    int64_t waited_ns = 0;
  };
  // At least one: the first is of this wait itself.
  [[nodiscard]] std::vector<Hop> of(size_t wait) const;

 private:
  struct Interval {
    int64_t begin, end;
    size_t index;  // of the wait
  };
  // The wait whose end ended this one: a thread that wants a monitor looks now and then whether it is free, and waits
  // on.
  [[nodiscard]] size_t last_of_same(size_t wait) const;
  // The last wait of the thread that was over by then; null: none.
  [[nodiscard]] const Interval* before(ThreadIndex thread, int64_t time) const;

  const Model& model_;
  std::vector<Interval> waits_;                          // by index
  std::vector<uint32_t> threads_;                        // of these, likewise
  std::vector<StackIndex> stacks_;                       // and these
  std::map<uint32_t, std::vector<Interval>> by_thread_;  // by their end
};

// One way in which a wait was ended.
struct WakerRow {
  WokenBy by = WokenBy::kUnknown;
  std::vector<uint32_t> chain;          // of the waker: labels, innermost first; empty: not known
  uint32_t process = 0;                 // by kProcess: of Model::waker_processes
  std::optional<uint8_t> waited;        // what the waker itself had waited for before, of Model::wait_kinds
  int64_t waited_ns = 0;                // for how long, within the waits of the row
  std::map<ThreadIndex, int64_t> time;  // of the row's waits, by waker
};

struct WokenRow {
  uint8_t kind = 0;             // of Model::wait_kinds
  std::vector<uint32_t> chain;  // labels, innermost first
  std::vector<WakerRow> hops;   // at least one
  WaitSum sum;
};

struct WokenProfile {
  std::vector<WokenRow> rows;  // most time first
  WaitSum all;
  std::map<WokenBy, WaitSum> by;
};
WokenProfile woken_profile(const Model& model, const Selection& selection, const Labels& labels);

}  // namespace tarsier::analysis
