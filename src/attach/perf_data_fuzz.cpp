#include <cstddef>
#include <cstdint>

#include "attach/perf_data.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)tarsier::attach::parse_perf_data({data, size});
  return 0;
}
