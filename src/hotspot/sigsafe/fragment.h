// What is copied of a thread when it is interrupted: its registers, what the JVM notes about its last Java frame, and a
// piece of its stack. Enough to find out later, elsewhere, what it was doing.
#pragma once

#include <cstdint>

#include "hotspot/sigsafe/virtual_thread.h"

namespace tarsier::hotspot {

// aarch64: x0 to x30. x86_64: rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp, r8 to r15.
constexpr int kGeneralRegisters = 31;

// The JVM's states of a thread; the same in all releases from 8 to 25.
constexpr int32_t kThreadInNative = 4, kThreadInJava = 8, kThreadInJavaTransition = 9;
// Whoever took the fragment could not tell: then the anchor is not known either.
constexpr int32_t kThreadStateUnknown = -1;

// Where a thread has left Java code for the JVM or for native code.
struct JavaFrameAnchor {
  uint64_t sp;  // 0: it has not, or has no Java frame at all
  uint64_t pc;  // 0: the word below sp
  uint64_t fp;
};

struct Fragment {
  uint64_t pc, sp, fp;
  uint64_t general[kGeneralRegisters];
  JavaFrameAnchor anchor;
  uint64_t continuation;  // ContinuationEntry*; 0 outside of virtual threads
  int32_t thread_state;   // the JVM's own: kThreadInJava, ..; or kThreadStateUnknown
  uint32_t stack_bytes;   // that follow: the memory from sp on
  uint64_t epoch;         // of class unloading, when it was copied; see UnloadEpoch
  int64_t virtual_id;     // Thread.threadId() of the virtual thread that is mounted; 0: none, or not known
  uint32_t frozen_bytes;  // that follow the stack: FrozenParts, innermost first, each before its bytes
  uint16_t name_bytes;    // that follow those, padded to 8: the virtual thread's name, once
  bool name_is_utf16;
  bool frozen_cut;       // there are more parts, or they could not be read
  bool cut;              // the stack goes on behind its bytes, as far as is known with Java frames
  uint32_t late_epochs;  // see epoch_doubt()

  // It may have been any epoch from `epoch` to `epoch + epoch_doubt()`: who could not read the thread's state read the
  // epoch before and after.
  [[nodiscard]] uint32_t epoch_doubt() const noexcept { return thread_state == kThreadStateUnknown ? late_epochs : 0; }
  [[nodiscard]] const uint8_t* stack() const noexcept { return reinterpret_cast<const uint8_t*>(this + 1); }
  [[nodiscard]] const uint8_t* frozen() const noexcept { return stack() + stack_bytes; }
  [[nodiscard]] const uint8_t* name() const noexcept { return frozen() + frozen_bytes; }
  [[nodiscard]] uint32_t padded_name() const noexcept { return (name_bytes + 7U) & ~7U; }
};
static_assert(sizeof(Fragment) % 8 == 0);

// Where a JavaThread keeps what is copied of it: offsets.
struct ThreadFields {
  uint64_t anchor_sp = 0, anchor_pc = 0, anchor_fp = 0;
  uint64_t thread_state = 0;
  uint64_t continuation = 0;  // 0: this JVM has none, or does not tell
  uint64_t stack_base = 0;
  // Not of a thread: the addresses of the two counters that are the epoch; null if the JVM does not count.
  const volatile uint64_t* unloaded = nullptr;
  const volatile uint64_t* unloaded_shared = nullptr;
  // Of a thread again: the monitor that it wants to enter. 0: this JVM does not tell.
  uint64_t pending_monitor = 0;
  // How large its stack may get, down from stack_base. 0: this JVM does not tell.
  uint64_t stack_size = 0;
};

}  // namespace tarsier::hotspot
