// The counters that a HotSpot JVM shares in /tmp/hsperfdata_USER/PID. Other users write these files, so they are
// hostile: every offset is checked, nothing is mapped (a truncated mapping would raise SIGBUS).
//
//   prologue   magic 0xcafec0c0 (4) · byte order (1) · major, minor (2) · accessible (1) · used (4) · overflow (4)
//              · time stamp (8) · offset of the first entry (4) · number of entries (4)
//   entry      length (4) · offset of the name (4) · vector length (4) · type 'B','J',.. (1) · flags, units,
//              variability (3) · offset of the data (4) · name\0 · data
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
