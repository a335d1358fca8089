#include "agent/debug_info.h"

#include <limits>

#include "hotspot/code_cache.h"
#include "hotspot/flags.h"

namespace tarsier::agent {

PreciseDebugInfo::PreciseDebugInfo(const LibJvm& lib, When when) {
  const auto address =
      lib.structs() ? hotspot::find_flag(lib.memory(), *lib.structs(), "DebugNonSafepoints") : std::nullopt;
  if (!address) {
    imprecise_until_ = std::numeric_limits<int32_t>::max();
    warning_ =
        "the flag DebugNonSafepoints was not found: innermost frames of compiled code may be imprecise "
        "(start the JVM with -XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints)";
    return;
  }
  flag_ = reinterpret_cast<volatile uint8_t*>(*address);  // a bool in libjvm's own data, which the compilers read
  if (*flag_ != 0) return;
  *flag_ = 1;
  switched_ = true;
  if (when == When::kBeforeInit) return;
  // After the switch: what is being compiled at this moment gets a higher id and is taken as precise, although a
  // compilation that began a moment before may not be.
  auto cache = hotspot::CodeCache::find(lib.memory(), *lib.structs());
  imprecise_until_ = cache ? cache->highest_compile_id() : std::numeric_limits<int32_t>::max();
}

PreciseDebugInfo::~PreciseDebugInfo() {
  if (switched_) *flag_ = 0;
}

}  // namespace tarsier::agent
