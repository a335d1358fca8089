// The one table of events: what the writer encodes, what the metadata describes and what docs/recording.md lists.
//
// Standard types (jdk.*) keep JFR's own field names and order, with fields of ours appended; types of our own are
// tarsier.*. Every event starts with startTime (ticks); the table says which of duration, eventThread and stackTrace
// follow it, then the event's own fields in the order of the table.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tarsier::recording {

enum class Kind : uint8_t {
  kBool,
  kInt,
  kLong,
  kString,
  kNanos,        // long, shown as a time span
  kBytes,        // long, shown as an amount of data
  kEpochMillis,  // long, shown as a date
  kShare,        // float, 0 to 1, shown as a percentage
  kBinary,       // byte[]
  kThread,       // constants from here on: an id that the writer gave out
  kStack,
  kThreadState,
  kClass,
};

struct Field {
  std::string_view name;
  Kind kind;
  std::string_view label;
  std::string_view description = {};
};

// The order is the order of the table; the value is no id in the file.
enum class Event : uint8_t {
  kExecutionSample,
  kWallSample,
  kWait,
  kObjectAllocationSample,
  kJavaMonitorEnter,
  kMonitorExit,
  kJavaMonitorWait,
  kThreadPark,
  kUnpark,
  kLockHold,
  kDeadlock,
  kThreadStart,
  kThreadEnd,
  kJvmInformation,
  kSession,
  kEngineUsed,
  kEngineSamples,
  kEngineDropped,
  kEngineCounter,
  kThreadCpu,
  kThreadCpuLoad,
  kThreadCounter,
  kMachineCpu,
  kGcPhasePause,
  kSafepoints,
  kThreadTime,
  kOverhead,
  kSavedJvm,
  kSavedMemory,
  kSavedFragment,
  kCount,
};

struct EventType {
  Event event;
  std::string_view name;      // jdk.ExecutionSample
  std::string_view label;     // Method Profiling Sample
  std::string_view category;  // components separated by '/'
  std::string_view description;
  std::span<const Field> fields;  // after startTime
};

// Indexed by Event.
std::span<const EventType> event_types();
inline const EventType& event_type(Event event) {
  return event_types()[static_cast<size_t>(event)];
}

}  // namespace tarsier::recording
