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

// The same by the debug information that there is for code that releases all the same: `described`, a scope that was
// noted for something near. It is that one if it has the monitor. When an exception leaves an inlined synchronized
// method, the code is described as being in its caller, at no bytecode: then it is who was left, the only method with
// the monitor that that one has called, unless `described` is synchronized itself. 0: it is neither.
uint32_t find_lock_scope_by(const CodeBlob& blob, uint8_t excluded, int64_t slot, uint32_t described,
                            bool is_synchronized);

// The only method that ever has a monitor in that slot; 0: there are none, or several.
uint32_t find_only_lock_scope(const CodeBlob& blob, uint8_t excluded, int64_t slot);

}  // namespace tarsier::hotspot
