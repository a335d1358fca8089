// How to leave a native function: whoever knows the libraries' unwind tables implements this.
#pragma once

#include <optional>

#include "base/memory.h"
#include "base/sigsafe/unwind_rule.h"

namespace tarsier::hotspot {

class NativeFrames {
 public:
  virtual ~NativeFrames() = default;

  [[nodiscard]] virtual std::optional<UnwindRule> rule_at(Address pc) const = 0;
};

}  // namespace tarsier::hotspot
