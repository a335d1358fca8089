// Reads what the eBPF program of linux/turn_parts.h has found out: which thread was on which CPU for how long.
#pragma once

#include <unordered_set>

#include "agent/scheduled_steal.h"
#include "base/mapping.h"
#include "base/result.h"
#include "linux/turn_parts.h"

namespace tarsier::agent {

class TurnsReader {
 public:
  // The program runs for as long as this lives. Takes rights; the other does not.
  static Result<TurnsReader> make();
  static Result<TurnsReader> of(linux::TurnParts parts);

  // With the turns that are not over yet.
  [[nodiscard]] CpuTurns read() const;
  // Threads that have ended make room for others.
  void forget_all_but(const std::unordered_set<pid_t>& tids) const;
  // Of threads for which there was no room.
  [[nodiscard]] Nanos missed() const;

 private:
  TurnsReader(linux::TurnParts parts, Mapping cpus, size_t count)
      : parts_(std::move(parts)), cpus_(std::move(cpus)), count_(count) {}

  struct Ongoing;
  [[nodiscard]] Ongoing ongoing_on(size_t cpu) const;
  template <class Visit>
  void for_all_turns(Visit visit) const;

  linux::TurnParts parts_;
  Mapping cpus_;
  size_t count_;
};

}  // namespace tarsier::agent
