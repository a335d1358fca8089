// This process's own memory, read through the kernel: a bad address is an answer, not a crash.
#pragma once

#include "base/memory.h"
#include "base/unique_fd.h"

namespace tarsier::linux {

class SelfMemory final : public Memory {
 public:
  SelfMemory();
  bool copy(void* out, Address from, size_t size) const noexcept override;
  bool copy_all(std::span<const MemoryPiece> pieces) const noexcept override;

 private:
  bool copy_through_pipe(void* out, Address from, size_t size) const noexcept;

  // Where process_vm_readv is forbidden (seccomp) or missing (qemu-user): write() to a pipe also answers EFAULT.
  unique_fd pipe_in_, pipe_out_;
};

}  // namespace tarsier::linux
