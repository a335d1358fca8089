// Another process's memory, read by its leave (ptrace rights) and without stopping it.
#pragma once

#include <sys/types.h>

#include "base/memory.h"

namespace tarsier::linux {

class ProcessMemory final : public Memory {
 public:
  explicit ProcessMemory(pid_t pid) : pid_(pid) {}
  bool copy(void* out, Address from, size_t size) const noexcept override;

 private:
  pid_t pid_;
};

}  // namespace tarsier::linux
