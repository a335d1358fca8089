// A fragment decoded alone: nothing is remembered of others, so the memory that is read meanwhile is all that it takes
// to decode it again, with the same result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/memory.h"
#include "base/result.h"
#include "hotspot/machine.h"
#include "hotspot/native_frames.h"
#include "hotspot/sigsafe/fragment.h"
#include "hotspot/vm_structs.h"

namespace tarsier::hotspot {

// Of a JVM: what decoding needs besides its memory.
struct JvmKind {
  const VmStructs& structs;
  const Machine& machine;
  int release = 0;
};

struct LoneWalk {
  const Fragment& fragment;
  uint64_t epoch = 0;       // of class unloading, when the fragment was copied
  uint64_t decoded_in = 0;  // the epoch as it is now
  size_t max_depth = 0;
};

struct LoneResult {
  std::string stack, code, calls;  // see stack_text.h

  [[nodiscard]] std::string text() const { return stack + '\n' + code + '\n' + calls; }
};

Result<LoneResult> walk_alone(const Memory& memory, const JvmKind& jvm, const NativeFrames& native,
                              const LoneWalk& walk);

}  // namespace tarsier::hotspot
