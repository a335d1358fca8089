// Any bytes as the counters of a JVM: what is said to lie within them must.
#include <cstddef>
#include <cstdint>

#include "hotspot/perf_memory.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto entries = tarsier::hotspot::perf_entries({data, size});
  if (!entries) return 0;
  size_t sum = 0;
  for (const auto& entry : *entries) {
    // All of it must lie within the bytes: the sanitizer looks.
    for (size_t i = 0; i < entry.size; ++i) sum += data[entry.at + i];
    for (const char c : entry.name) sum += static_cast<uint8_t>(c);
  }
  return sum == SIZE_MAX ? 1 : 0;
}
