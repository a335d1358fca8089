// From a JavaThread* to what the operating system calls it.
#pragma once

#include <sys/types.h>

#include <optional>

#include "base/memory.h"
#include "hotspot/sigsafe/fragment.h"
#include "hotspot/vm_structs.h"

namespace tarsier::hotspot {

struct ThreadLayout {
  uint64_t os_thread = 0;  // JavaThread::_osthread
  uint64_t thread_id = 0;  // OSThread::_thread_id
  // JavaThread::_anchor._last_Java_sp: 0 in it means that a thread outside of Java code has no Java frame at all.
  std::optional<uint64_t> last_java_sp;

  static Result<ThreadLayout> find(const VmStructs& structs);
};

// Where a JavaThread counts what it has allocated; the members are listed up to 25 at least.
struct AllocatedBytesLayout {
  uint64_t allocated_bytes = 0;  // Thread::_allocated_bytes, without those of the current buffer
  uint64_t tlab_start = 0, tlab_top = 0;

  static std::optional<AllocatedBytesLayout> find(const VmStructs& structs);
  // By the thread itself, while it does not allocate.
  [[nodiscard]] int64_t of_current(const char* java_thread) const noexcept {
    const auto at = [java_thread](uint64_t offset) {
      return *reinterpret_cast<const volatile int64_t*>(java_thread + offset);
    };
    return at(allocated_bytes) + at(tlab_top) - at(tlab_start);
  }
};

// What a handler copies of a JavaThread, but for where it has entered a virtual one (continuation_entries.h).
Result<ThreadFields> find_thread_fields(const VmStructs& structs);

std::optional<pid_t> native_id(const Memory& memory, const ThreadLayout& layout, Address java_thread);

}  // namespace tarsier::hotspot
