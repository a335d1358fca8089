// What events refer to: threads, classes, methods and stacks, as values. The writer interns them, the reader hands
// them out; both sides use these types and nobody else's ids.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/units.h"

namespace tarsier::recording {

enum class FrameType : uint8_t {
  kJava,  // a Java frame; the mechanism could not tell more
  kInterpreted,
  kC1,
  kC2,
  kInlined,
  kNative,
  kStub,
  kVm,
  kKernel,
  kClass,   // no code: what was allocated
  kMarker,  // no code: [failed: ...], [deeper], [GC]
  kCount,
};
std::string_view frame_type_name(FrameType type);         // "c2", for reports and pages
std::string_view frame_type_jfr_name(FrameType type);     // "JIT compiled", as stored
FrameType frame_type_of_jfr_name(std::string_view name);  // kJava if unknown

using MethodId = Id<struct MethodTag>;  // 0: none
using StackId = Id<struct StackTag>;    // 0: none
using ThreadId = Id<struct ThreadTag>;  // 0: none
using ClassId = Id<struct ClassTag>;    // 0: none

struct Frame {
  MethodId method;
  int32_t line = 0;  // 0: unknown
  int32_t bci = 0;
  FrameType type = FrameType::kJava;
  bool operator==(const Frame&) const = default;
};

struct MethodInfo {
  std::string_view class_name;  // as the JVM writes it, with slashes: java/lang/String; empty for non-Java frames
  std::string_view name;
  std::string_view descriptor;  // (I)V; empty for non-Java frames
  int32_t modifiers = 0;
};

struct ThreadInfo {
  std::string_view os_name;
  int64_t os_id = 0;
  std::string_view java_name;  // empty: not a Java thread
  int64_t java_id = 0;
  bool is_virtual = false;
  std::string_view group = {};  // of Java threads; empty: not known
};

}  // namespace tarsier::recording
