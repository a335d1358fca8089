// speedscope's own file format: JSON with a table of frames and lists of weighted stacks, outermost frame first.
//
// One profile for all threads together and one for each of the busiest threads. Equal stacks are one, heavier ones
// first, so the view to look at is "left heavy"; the order in time is not kept. CPU time that no engine sampled is
// there as [GC], [JIT], [VM].
#pragma once

#include <cstddef>
#include <ostream>

#include "analysis/model.h"
#include "base/result.h"

namespace tarsier::exporting {

// speedscope holds everything as objects and lists all profiles in one menu. Beyond these bounds the lightest calls are
// folded into a frame [smaller calls] below their caller, and the least busy threads are in the first profile only.
struct SpeedscopeBounds {
  size_t calls = 50'000;  // of the tree of all threads, and again of the trees by thread together
  size_t threads = 50;
  size_t depth = 500;  // calls deeper than that are folded into a frame [deeper]
};

// Fails if the stream does.
Status export_speedscope(const analysis::Model& model, std::ostream& out, const SpeedscopeBounds& bounds = {});

}  // namespace tarsier::exporting
