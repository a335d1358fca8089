// Which of the methods inlined into a compiled one has entered a monitor, when the monitor is released.
//
// Where compiled code calls the JVM to release a monitor there is no debug information, so the nearest would be that of
// any other method. But the code passes the address of its lock record, a slot of its frame, and where there is debug
// information within the synchronized region it tells in which slot the record of each monitor lies.
#pragma once

#include <cstdint>

#include "hotspot/code_blob.h"

namespace tarsier::hotspot {

// The scope of the method that has entered the monitor whose record lies `slot` bytes above the frame's sp. Several may
// use the slot one after another: of those it is the one with debug information nearest before `near`, or else behind
// it. 0: none is known.
uint32_t find_lock_scope(const CodeBlob& blob, uint8_t excluded, int64_t slot, Address near);

}  // namespace tarsier::hotspot
