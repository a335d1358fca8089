// Any bytes at all as a sample of the kernel's. The first tells whether it comes with frames of the kernel's.
#include "linux/perf_sample.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

using namespace tarsier::linux;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  // Of whole words and aligned, as all that comes out of a ring; to the byte, so that reading on is noticed.
  std::vector<uint64_t> body((size - 1) / sizeof(uint64_t));
  if (!body.empty()) std::memcpy(body.data(), data + 1, body.size() * sizeof(uint64_t));
  const auto sample = PerfSample::parse({reinterpret_cast<const uint8_t*>(body.data()), body.size() * sizeof(uint64_t)},
                                        (data[0] & 1) != 0);
  if (!sample) return 0;
  if (!sample->general.empty() && sample->general.size() != PerfSample::kRegisters) __builtin_trap();
  // All of it can be read.
  const auto sum = [](const auto& values) { return std::accumulate(values.begin(), values.end(), uint64_t{0}); };
  const uint64_t read = sum(sample->general) + sum(sample->kernel) + sum(sample->stack);
  asm volatile("" : : "r"(read));
  return 0;
}
