// DebugNonSafepoints: without it the JIT describes only safepoints, and a pc between two of them is attributed to the
// wrong inlined method. On while a session runs; what was compiled before is known by its compile id.
#pragma once

#include <cstdint>
#include <string>

#include "agent/libjvm.h"

namespace tarsier::agent {

class PreciseDebugInfo {
 public:
  // Switches the flag on if it was off. Before the JVM has initialized itself nothing is compiled yet.
  enum class When { kBeforeInit, kRunning };
  PreciseDebugInfo(const LibJvm& lib, When when);
  // Back to what it was.
  ~PreciseDebugInfo();
  PreciseDebugInfo(const PreciseDebugInfo&) = delete;
  PreciseDebugInfo& operator=(const PreciseDebugInfo&) = delete;

  // 0 if everything is precise.
  [[nodiscard]] int32_t imprecise_until_compile_id() const { return imprecise_until_; }
  // Empty if it worked.
  [[nodiscard]] const std::string& warning() const { return warning_; }

 private:
  volatile uint8_t* flag_ = nullptr;
  bool switched_ = false;
  int32_t imprecise_until_ = 0;
  std::string warning_;
};

}  // namespace tarsier::agent
