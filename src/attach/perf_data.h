// The counters that a HotSpot JVM shares in /tmp/hsperfdata_USER/PID. Other users write these files, so they are
// hostile: every offset is checked (hotspot/perf_memory.h, which knows the format), nothing is mapped (a truncated
// mapping would raise SIGBUS).
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include <cstdint>

#include "base/result.h"

namespace tarsier::attach {

// The string counters only; cut at the first NUL.
using PerfData = std::map<std::string, std::string, std::less<>>;
Result<PerfData> parse_perf_data(std::span<const uint8_t> bytes);

}  // namespace tarsier::attach
