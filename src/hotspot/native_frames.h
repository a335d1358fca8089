// How to leave a native function: whoever knows the libraries' unwind tables implements this.
#pragma once

#include <cstdint>
#include <optional>

#include "base/memory.h"

namespace tarsier::hotspot {

class NativeFrames {
 public:
  virtual ~NativeFrames() = default;

  // How to find the caller, valid at one instruction: all relative to the value that sp had before the call (the CFA).
  struct Rule {
    bool by_fp;          // CFA = fp + cfa_offset, otherwise sp + cfa_offset
    int64_t cfa_offset;  //
    bool ra_saved;       // otherwise still in the link register
    int64_t ra_offset;   // from the CFA
    bool fp_saved;       // otherwise the caller's
    int64_t fp_offset;   // from the CFA
  };
  [[nodiscard]] virtual std::optional<Rule> rule_at(Address pc) const = 0;
};

}  // namespace tarsier::hotspot
