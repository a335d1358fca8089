// Deadlocks that were noticed while a program was recorded, and what is said about them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/lock_events.h"

namespace tarsier::analysis {

struct Model;

// A thread that waits for a lock, and who holds it.
struct DeadlockEdge {
  ThreadIndex thread{};
  StackIndex stack{};
  LockIndex lock = kNoLock;
  bool is_monitor = false;
  ThreadIndex owner = kNobody;
};

// Each edge's owner is the thread of the next, that of the last is the thread of the first.
struct Deadlock {
  int64_t number = 0;
  int64_t noticed_ns = 0;  // since the epoch; it may be older
  std::vector<DeadlockEdge> edges;
};

// The method in which the program itself waits.
std::string waits_in(const Model& model, const DeadlockEdge& edge);

// Deadlock of 2 threads: A waits for Object@1 held by B, in a.B.c; B ...
std::string words_of_deadlock(const Model& model, const Deadlock& deadlock, size_t most_edges);

// The verdict's sentence; empty if there is no deadlock.
std::string deadlock_verdict(const Model& model);

}  // namespace tarsier::analysis
