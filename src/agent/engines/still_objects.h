// Tells without asking the JVM that an object is one that was seen before. A field that refers to it is read as the
// number that the JVM keeps there: reading numbers needs no change of the thread's state and makes no reference. While
// no safepoint comes, collectors that stop the world move nothing, and the same number is the same object.
#pragma once

#include <jni.h>

#include <atomic>
#include <cstdint>

#include "base/memory.h"
#include "hotspot/vm_structs.h"

namespace tarsier::agent {

class StillObjects {
 public:
  StillObjects() = default;
  // Of no use (see operator bool) with collectors that move objects while threads run, with references that are no
  // ints, if the JVM checks what JNI is used for, and if it is not known where it counts its safepoints.
  StillObjects(const Memory& memory, const hotspot::VmStructs& structs);
  explicit operator bool() const { return safepoints_ != nullptr; }

  struct Seen {
    uint32_t reference = 0;   // 0: null
    uint32_t safepoints = 0;  // so many until then
    bool known = false;       // else a safepoint came between
    bool operator==(const Seen&) const = default;
  };
  // What a field of an object refers to, which must be one of an object's class.
  [[nodiscard]] Seen look(JNIEnv* jni, jobject object, jfieldID field) const noexcept {
    const uint32_t before = safepoints_->load(std::memory_order_acquire);
    const auto reference = static_cast<uint32_t>(jni->GetIntField(object, field));
    std::atomic_thread_fence(std::memory_order_acquire);
    const uint32_t after = safepoints_->load(std::memory_order_relaxed);
    // Odd: one is going on.
    return {reference, after, before == after && after % 2 == 0};
  }

 private:
  const std::atomic<uint32_t>* safepoints_ = nullptr;
};

}  // namespace tarsier::agent
