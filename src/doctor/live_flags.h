// Flags of a running JVM, read from its memory as it is: through the tables that HotSpot exports about itself.
#pragma once

#include <sys/types.h>

#include <map>
#include <span>
#include <string>

#include "base/memory.h"
#include "base/result.h"
#include "linux/elf.h"

namespace tarsier::doctor {

// `libjvm` is the file that is mapped at `base`. Flags that this JVM does not have are left out; all `names` are of
// flags that are true or false. Fails if the memory may not be read.
Result<std::map<std::string, bool, std::less<>>> live_flags(pid_t pid, const linux::ElfFile& libjvm, Address base,
                                                            std::span<const std::string_view> names);

}  // namespace tarsier::doctor
