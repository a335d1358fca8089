// How to find the caller of a native function, valid at one instruction: all relative to the value that sp had before
// the call (the CFA).
#pragma once

#include <cstdint>

namespace tarsier {

struct UnwindRule {
  bool by_fp;          // CFA = fp + cfa_offset, otherwise sp + cfa_offset
  int64_t cfa_offset;  //
  bool ra_saved;       // otherwise still in the link register
  int64_t ra_offset;   // from the CFA
  bool fp_saved;       // otherwise the caller's
  int64_t fp_offset;   // from the CFA
  bool outermost;      // nobody has called it: the thread began here
};

}  // namespace tarsier
