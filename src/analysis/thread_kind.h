#pragma once

#include <string_view>

#include "analysis/model.h"

namespace tarsier::analysis {

ThreadKind thread_kind_of_name(std::string_view name);  // kOther if unknown

// The root under which a kind's unsampled CPU time appears in trees: [GC], [JIT], [VM], ...
std::string_view unsampled_root_name(ThreadKind kind);

}  // namespace tarsier::analysis
