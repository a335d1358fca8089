// The ids of types in our own files. Readers learn them from the metadata; they only must not change within a file.
#pragma once

#include <cstdint>

#include "recording/events.h"

namespace tarsier::recording {

enum class TypeId : uint8_t {  // 0 and 1 are the metadata and checkpoint events
  kBoolean = 2,
  kInt,
  kLong,
  kString,
  kThread,
  kClass,
  kThreadGroup,
  kClassLoader,
  kPackage,
  kModule,
  kMethod,
  kSymbol,
  kStackTrace,
  kStackFrame,
  kFrameType,
  kThreadState,
  kLabel,
  kDescription,
  kCategory,
  kContentType,
  kTimestamp,
  kTimespan,
  kDataAmount,
  kByte,
  kFloat,
  kPercentage,
  kFirstEvent = 40,
};

constexpr uint8_t id_of(TypeId type) {
  return static_cast<uint8_t>(type);
}
constexpr uint8_t id_of(Event event) {
  return static_cast<uint8_t>(id_of(TypeId::kFirstEvent) + static_cast<uint8_t>(event));
}
// One byte in every event.
static_assert(id_of(Event::kCount) < 0x80);

}  // namespace tarsier::recording
