#include "recording/constants.h"

#include <array>

namespace tarsier::recording {
namespace {

struct Names {
  std::string_view ours, jfr;
};
// JFR's own words where it has one, so that other tools know our frames. "JIT compiled" is C1 or C2 in JFR's own files,
// and C2 in async-profiler's, where "C1 compiled", "C++" and "Kernel" are from.
constexpr std::array<Names, static_cast<size_t>(FrameType::kCount)> kNames = {{
    {"java", "Java"},
    {"interpreted", "Interpreted"},
    {"c1", "C1 compiled"},
    {"c2", "JIT compiled"},
    {"inlined", "Inlined"},
    {"native", "Native"},
    {"stub", "Stub"},
    {"vm", "C++"},
    {"kernel", "Kernel"},
    {"class", "Class"},
    {"marker", "Marker"},
}};

}  // namespace

std::string_view frame_type_name(FrameType type) {
  return kNames[static_cast<size_t>(type)].ours;
}
std::string_view frame_type_jfr_name(FrameType type) {
  return kNames[static_cast<size_t>(type)].jfr;
}

FrameType frame_type_of_jfr_name(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i].jfr == name) return static_cast<FrameType>(i);
  }
  return FrameType::kJava;
}

}  // namespace tarsier::recording
