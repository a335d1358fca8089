// Lock events by hand, for tests, and what became of them in words.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/contentions.h"
#include "analysis/lock_aspects.h"
#include "analysis/model_maker.h"

namespace tarsier::analysis {

// Times are small numbers since the start of the recording.
class LockTrace : public ModelMaker {
 public:
  LockTrace() { model.start_ns = 0; }

  LockEvents& events() { return model.locks; }

  LockIndex lock(std::string_view klass, int64_t identity) {
    events().locks.push_back({builder().marker(klass), identity});
    return LockIndex(static_cast<uint32_t>(events().locks.size() - 1));
  }
  static MonitorPeriod period(LockIndex of, int64_t generation) { return {of, generation}; }

  MonitorEnter& enter(MonitorPeriod period, ThreadIndex thread, int64_t begin, int64_t end, int64_t sequence,
                      std::string_view frames = "main;enter") {
    events().enters.push_back({.begin_ns = begin,
                               .end_ns = end,
                               .sequence = sequence,
                               .period = period,
                               .thread = thread,
                               .stack = stack(frames)});
    return events().enters.back();
  }
  MonitorExit& exit(MonitorPeriod period, ThreadIndex thread, int64_t time, int64_t sequence, std::string_view frames) {
    events().exits.push_back(
        {.time_ns = time, .sequence = sequence, .period = period, .thread = thread, .stack = stack(frames)});
    return events().exits.back();
  }
  ThreadPark& park(LockIndex blocker, ThreadIndex thread, int64_t begin, int64_t end, int64_t sequence,
                   int64_t end_sequence, std::string_view frames = "main;lock") {
    events().parks.push_back({.begin_ns = begin,
                              .end_ns = end,
                              .sequence = sequence,
                              .end_sequence = end_sequence,
                              .blocker = blocker,
                              .thread = thread,
                              .stack = stack(frames)});
    return events().parks.back();
  }
  Unpark& unpark(ThreadIndex thread, ThreadIndex target, int64_t time, int64_t sequence, std::string_view frames) {
    events().unparks.push_back(
        {.time_ns = time, .sequence = sequence, .thread = thread, .stack = stack(frames), .target = target});
    return events().unparks.back();
  }
  LockHold& hold(LockIndex lock, ThreadIndex thread, int64_t begin, int64_t end, std::string_view frames) {
    events().holds.push_back(
        {.begin_ns = begin, .end_ns = end, .lock = lock, .thread = thread, .stack = stack(frames)});
    return events().holds.back();
  }
  LockHold& hold_from_before(LockIndex lock, ThreadIndex thread, int64_t end, std::string_view frames) {
    LockHold& made = hold(lock, thread, INT64_MIN / 2, end, frames);
    made.from_before = true;
    return made;
  }

  [[nodiscard]] std::string owner_text(const Owner& owner) const {
    switch (owner.kind) {
      case Owner::Kind::kHandOff:
        return "hand-off";
      case Owner::Kind::kUnknown:
      case Owner::Kind::kCount:
        return "unknown";
      case Owner::Kind::kThread:
        return name(owner.thread);
      case Owner::Kind::kChain:
        break;
    }
    return name(owner.thread) + ":" + model.methods[model.stacks[owner.stack.value].method.value].name;
  }

  // "B 10 A:a 30 hand-off 32": B was blocked from 10 to 32, until 30 by A in a.
  [[nodiscard]] std::string line(const Contention& contention, std::span<const Piece> pieces) const {
    std::string text =
        name(contention.thread) + (contention.after_wait ? " after wait " : " ") + std::to_string(contention.begin_ns);
    for (const Piece& piece : pieces) text += " " + owner_text(piece.owner) + " " + std::to_string(piece.end_ns);
    return text;
  }

  // In the order of begin and thread.
  [[nodiscard]] std::vector<std::string> contentions(const Selection& selection = {}) const {
    struct Line {
      int64_t begin;
      std::string text;
      auto operator<=>(const Line&) const = default;
    };
    std::vector<Line> lines;
    const LockCode code(model);
    for_each_contention(model, code, selection, [&](const Contention& contention, std::span<const Piece> pieces) {
      lines.push_back({contention.begin_ns, line(contention, pieces)});
    });
    std::sort(lines.begin(), lines.end());
    std::vector<std::string> texts;
    for (Line& line : lines) texts.push_back(std::move(line.text));
    return texts;
  }

 private:
  [[nodiscard]] const std::string& name(ThreadIndex thread) const { return model.threads[thread.value].name; }
};

}  // namespace tarsier::analysis
