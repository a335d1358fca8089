#include "agent/engines/still_objects.h"

#include <algorithm>
#include <array>

#include "hotspot/flags.h"
#include "linux/loaded_elf.h"

namespace tarsier::agent {
namespace {

bool is_on(const Memory& memory, const hotspot::VmStructs& structs, const char* flag) {
  const auto value = hotspot::find_flag(memory, structs, flag);
  return value && memory.read<uint8_t>(*value).value_or(0) != 0;
}

}  // namespace

StillObjects::StillObjects(const Memory& memory, const hotspot::VmStructs& structs) {
  constexpr std::array kCollectors = {"UseG1GC", "UseParallelGC", "UseSerialGC"};
  const auto on = [&](const char* flag) { return is_on(memory, structs, flag); };
  if (std::none_of(kCollectors.begin(), kCollectors.end(), on) || !on("UseCompressedOops")) return;
  // CMS frees memory while threads run, together with a young collector that has a name of its own.
  if (on("UseConcMarkSweepGC") || on("CheckJNICalls") || on("VerifyJNIFields")) return;
  const auto library = linux::find_library("libjvm.so");
  if (!library) return;
  const auto file = linux::open_loaded(*library);
  if (!file) return;
  const auto counter = file->symbol("_ZN20SafepointSynchronize18_safepoint_counterE");
  if (!counter || counter->address == 0) return;
  // It has 32 or 64 bits: the lower ones are enough.
  safepoints_ = reinterpret_cast<const std::atomic<uint32_t>*>(library->base + counter->address);
}

}  // namespace tarsier::agent
