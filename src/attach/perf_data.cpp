#include "attach/perf_data.h"

#include "hotspot/perf_memory.h"

namespace tarsier::attach {

Result<PerfData> parse_perf_data(std::span<const uint8_t> bytes) {
  const auto entries = hotspot::perf_entries(bytes);
  if (!entries) return entries.error();
  PerfData counters;
  for (const hotspot::PerfEntry& entry : *entries) {
    if (entry.type != 'B') continue;
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + entry.at, entry.size);
    counters.emplace(entry.name, text.substr(0, text.find('\0')));
  }
  return counters;
}

}  // namespace tarsier::attach
