#pragma once

#include <optional>
#include <string_view>

#include "base/units.h"

namespace tarsier::analysis {

// The value of a jdk.ActiveSetting that is a time: "20 ms" (JFR), "10ms", or plain nanoseconds (async-profiler).
// Nothing if it is something else ("everyChunk", "100/s") or not positive.
std::optional<Nanos> parse_jfr_period(std::string_view text);

}  // namespace tarsier::analysis
