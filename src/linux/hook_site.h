// What is to be changed in a function so that its calls go elsewhere, on the architecture that this is built for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace tarsier::linux {

struct HookedFunction {
  std::string path;          // of the library
  uint64_t address = 0;      // in memory
  uint64_t file_offset = 0;  // of its first instruction
  uint64_t size = 0;         // 0: what its library's unwind tables say
  uint8_t arguments = 6;     // that it has in registers, at most
};

struct CodeChange {
  uint64_t at;
  std::vector<uint8_t> bytes;
};

struct HookSite {
  CodeChange undone;      // the one instruction that is changed, as it was
  CodeChange padding;     // that is used for a jump, as it was; empty: none is
  uint64_t original = 0;  // what to call for the original, hooked or not
};

// Fails if the function is none that can be hooked, or is not as in its file. The same one each time for a function.
Result<HookSite> find_hook_site(const HookedFunction& function);
// What makes it go to `replacement`, to be done in this order; the last one is that of the site. Padding comes before
// it: a change of nothing that runs.
Result<std::vector<CodeChange>> changes_for(const HookedFunction& function, uint64_t replacement);

}  // namespace tarsier::linux
