#include "doctor/live_flags.h"

#include "hotspot/flags.h"
#include "hotspot/vm_structs.h"
#include "linux/process_memory.h"

namespace tarsier::doctor {

Result<std::map<std::string, bool, std::less<>>> live_flags(pid_t pid, const linux::ElfFile& libjvm, Address base,
                                                            std::span<const std::string_view> names) {
  const linux::ProcessMemory memory(pid);
  if (!memory.read<uint32_t>(base)) {
    return Error{Errc::kNotPermitted, "its memory may not be read (ptrace rights)"};
  }
  const auto structs = hotspot::VmStructs::load(memory, [&](const char* name) -> Address {
    const auto symbol = libjvm.symbol(name);
    return symbol ? base + symbol->address : 0;
  });
  if (!structs) return structs.error();
  std::map<std::string, bool, std::less<>> flags;
  for (const std::string_view name : names) {
    const auto at = hotspot::find_flag(memory, *structs, name);
    const auto value = at ? memory.read<uint8_t>(*at) : std::nullopt;
    if (value) flags.emplace(name, *value != 0);
  }
  return flags;
}

}  // namespace tarsier::doctor
