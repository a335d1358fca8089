#include "linux/process_memory.h"

#include <sys/uio.h>

namespace tarsier::linux {

bool ProcessMemory::copy(void* out, Address from, size_t size) const noexcept {
  const iovec local{out, size};
  const iovec remote{reinterpret_cast<void*>(from), size};
  return ::process_vm_readv(pid_, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(size);
}

}  // namespace tarsier::linux
