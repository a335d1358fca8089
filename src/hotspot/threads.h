// From a JavaThread* to what the operating system calls it.
#pragma once

#include <sys/types.h>

#include <optional>

#include "base/memory.h"
#include "hotspot/vm_structs.h"

namespace tarsier::hotspot {

struct ThreadLayout {
  uint64_t os_thread = 0;  // JavaThread::_osthread
  uint64_t thread_id = 0;  // OSThread::_thread_id
  // JavaThread::_anchor._last_Java_sp: 0 in it means that a thread outside of Java code has no Java frame at all.
  std::optional<uint64_t> last_java_sp;

  static Result<ThreadLayout> find(const VmStructs& structs);
};

std::optional<pid_t> native_id(const Memory& memory, const ThreadLayout& layout, Address java_thread);

}  // namespace tarsier::hotspot
