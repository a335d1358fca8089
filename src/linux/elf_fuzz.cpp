// Any bytes at all as a library: sections, symbols, build id, calls, probes and their arguments.
#include "linux/elf.h"

#include <cstddef>
#include <cstdint>

#include "linux/call_graph.h"
#include "linux/elf_functions.h"
#include "linux/readable_name.h"
#include "linux/usdt.h"

using namespace tarsier::linux;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = ElfFile::over({data, size});
  if (!file) return 0;
  (void)file->symbol("exit");
  (void)file->build_id();
  if (const auto functions = ElfFunctions::read(*file, 1 << 20)) {
    for (uint64_t address = 0; address < 0x2000; address += 0x10) {
      if (const auto* function = functions->find(address)) (void)readable_name(functions->name_of(*function, *file));
    }
  }
  if (const auto graph = CallGraph::read(*file)) (void)graph->callees(graph->function_at(0x1000));
  const auto probes = usdt_probes(*file);
  if (!probes) return 0;
  for (const UsdtProbe& probe : *probes) (void)parse_usdt_arguments(probe.arguments, file->machine());
  return 0;
}
