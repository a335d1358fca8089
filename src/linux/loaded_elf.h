// The file that a library of this process was loaded from, as far as it is still there: after an update of the system
// another one may bear its name, whose addresses mean nothing in this process.
#pragma once

#include "base/memory.h"
#include "base/result.h"
#include "linux/elf.h"
#include "linux/loaded_library.h"

namespace tarsier::linux {

// `memory`: of this process.
Result<ElfFile> open_loaded(const LoadedLibrary& library, const Memory& memory);
// Of a library that nobody unloads.
Result<ElfFile> open_loaded(const LoadedLibrary& library);

}  // namespace tarsier::linux
