// Any bytes at all as the kernel's description of its types.
#include "linux/kernel_types.h"

#include <cstddef>
#include <cstdint>

using namespace tarsier::linux;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto types = KernelTypes::parse({data, data + size});
  if (!types) return 0;
  for (const char* member : {"first", "second", "bits", "third"}) (void)types->member("one", member);
  return 0;
}
