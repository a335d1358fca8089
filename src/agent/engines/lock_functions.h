// Where the functions are that LockHooks hooks, in a libjvm without a symbol table.
//
// Its static probes (USDT) lie inside of functions whose purpose they tell; which function calls which leads from these
// to the others. Without probes the functions that the library exports for java.base (JVM_MonitorWait) are where it
// begins. What is found is what is called in the way that it must be called in, and nothing if that fits several: a
// trial must show that it is the right one (lock_trial.h).
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "linux/elf.h"

namespace tarsier::agent {

enum class LockRole : uint8_t { kExit, kWait, kNotify, kReenter, kUnlock, kUnlockC1, kPark, kUnpark, kCount };

// As the file is linked; 0: not found.
class LockFunctions {
 public:
  // Fail if the release of a monitor is not found.
  static Result<LockFunctions> by_probes(const linux::ElfFile& library);
  static Result<LockFunctions> by_exports(const linux::ElfFile& library);

  [[nodiscard]] uint64_t of(LockRole role) const { return addresses_[static_cast<size_t>(role)]; }
  void set(LockRole role, uint64_t address) { addresses_[static_cast<size_t>(role)] = address; }

 private:
  std::array<uint64_t, static_cast<size_t>(LockRole::kCount)> addresses_{};
};

}  // namespace tarsier::agent
