#pragma once

#include <map>
#include <string_view>

#include "analysis/model.h"

namespace tarsier::analysis {

ThreadKind thread_kind_of_name(std::string_view name);  // kOther if unknown

// The root under which a kind's unsampled CPU time appears in trees: [GC], [JIT], [VM], ...
std::string_view unsampled_root_name(ThreadKind kind);

// Adds the thread's CPU time to its kind's if no engine sampled it. Our own thread is not the program's: left out.
void add_unsampled_cpu(std::map<ThreadKind, Nanos>& sums, const Thread& thread);

}  // namespace tarsier::analysis
