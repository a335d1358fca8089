// The profile.proto format of pprof, compressed by gzip, as `go tool pprof` and many other tools read it.
//
// Two values per sample: samples/count and cpu (or wall)/nanoseconds; of allocation alloc_objects/count, estimated, and
// alloc_space/bytes, with the class as innermost frame. Samples of equal stack and thread are one. Labels: thread
// (its name), thread_id (the kernel's), thread_kind, frame_type (of the innermost frame). CPU time that no engine
// sampled is there as [GC], [JIT], [VM] with 0 samples. How it was recorded and what is missing stands in the comments.
//
// Inlined frames are locations of their own, not further lines of their caller's: some readers take one line of a
// location and would give an inlined method's time to the method around it.
#pragma once

#include <ostream>

#include "analysis/model.h"
#include "base/result.h"

namespace tarsier::exporting {

// Deeper stacks lose their outer frames, and get [deeper] in their place: no reader is made for them.
constexpr size_t kMaxPprofDepth = 4096;

// Fails if the stream does.
Status export_pprof(const analysis::Model& model, std::ostream& out);

}  // namespace tarsier::exporting
