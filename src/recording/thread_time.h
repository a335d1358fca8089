// Where the time of a thread's life goes: the parts of tarsier.ThreadTime, which add up to it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tarsier::recording {

enum class TimePart : uint8_t {
  kCpu,          // it ran
  kQueue,        // it could have run, but had no CPU: preempted, or woken and not yet running
  kWaits,        // waits that are events of the recording
  kShortWaits,   // shorter than was asked for
  kLongWaits,    // longer than was asked for
  kMissedWaits,  // long enough, but no event: over before the stack was read, or no room for it
  kOpenWait,     // goes on; 0 at the end of a recording that has ended properly
  kCount
};
constexpr std::array<std::string_view, static_cast<size_t>(TimePart::kCount)> kTimePartNames = {
    "cpu", "run queue", "waits", "short waits", "long waits", "missed waits", "open wait"};

}  // namespace tarsier::recording
