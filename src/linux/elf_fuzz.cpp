// Any bytes at all as a library: sections, symbols, build id, probes and their arguments.
#include "linux/elf.h"

#include <cstddef>
#include <cstdint>

#include "linux/usdt.h"

using namespace tarsier::linux;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = ElfFile::over({data, size});
  if (!file) return 0;
  (void)file->symbol("exit");
  (void)file->build_id();
  const auto probes = usdt_probes(*file);
  if (!probes) return 0;
  for (const UsdtProbe& probe : *probes) (void)parse_usdt_arguments(probe.arguments, file->machine());
  return 0;
}
