// A number that changes whenever classes are unloaded, before their memory is given back.
#pragma once

#include <cstdint>
#include <optional>

#include "base/memory.h"
#include "hotspot/vm_structs.h"

namespace tarsier::hotspot {

class UnloadEpoch {
 public:
  // Nothing if the JVM does not count (-XX:-UsePerfData).
  static std::optional<UnloadEpoch> find(const Memory& memory, const VmStructs& structs);

  // The two counters that it is the sum of, 8 bytes each; they stay as long as the JVM lives.
  [[nodiscard]] Address counter() const { return counter_; }
  [[nodiscard]] Address shared_counter() const { return shared_counter_; }
  [[nodiscard]] uint64_t now(const Memory& memory) const {
    return memory.read<uint64_t>(counter_).value_or(0) + memory.read<uint64_t>(shared_counter_).value_or(0);
  }

 private:
  Address counter_ = 0, shared_counter_ = 0;
};

}  // namespace tarsier::hotspot
