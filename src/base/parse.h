// Durations, sizes and shares as people write them: 10us, 1ms, 30s, 2m, 1h; 512k, 64m, 1g; 0.05, 5%.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace tarsier {

Result<Nanos> parse_duration(std::string_view text);
Result<Bytes> parse_size(std::string_view text);
Result<double> parse_share(std::string_view text);

// The shortest of the forms above that is exact: 1ms, 1500us, 30s.
std::string format_duration(Nanos value);

// 512k, 64m; 1000 where no unit is exact.
std::string format_size(Bytes value);

// A number that parse_share() takes for the same.
std::string format_share(double value);

}  // namespace tarsier
