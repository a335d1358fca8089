#include "agent/engines/wait_kind.h"

namespace tarsier::agent {
namespace {

struct Known {
  std::string_view class_name, method;  // the method's name may have something behind it: sleep0, sleepNanos0, wait0
  std::string_view kind;
};
constexpr Known kKnown[] = {
    {"java/lang/Thread", "sleep", "sleeping"},
    {"jdk/internal/misc/Unsafe", "park", "parked"},
    {"sun/misc/Unsafe", "park", "parked"},  // 8
    {"java/lang/Object", "wait", "waiting"},
};
constexpr std::string_view kInputAndOutput[] = {"java/io/", "java/net/", "sun/nio/", "java/util/zip/", "jdk/net/"};

}  // namespace

std::string_view kind_of_wait(const hotspot::MethodInfo* innermost, bool in_native, bool wants_monitor) {
  if (wants_monitor) return "monitor";
  if (innermost == nullptr) return "native";
  const std::string_view class_name = innermost->class_name, method = innermost->name;
  for (const Known& known : kKnown) {
    if (class_name == known.class_name && method.starts_with(known.method)) return known.kind;
  }
  if (!in_native) return "vm";
  for (const std::string_view prefix : kInputAndOutput) {
    if (class_name.starts_with(prefix)) return "io";
  }
  return "native";
}

}  // namespace tarsier::agent
