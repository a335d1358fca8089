#include "linux/self_memory.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/sigsafe/safe_copy.h"

namespace tarsier::linux {

SelfMemory::SelfMemory() {
  int probe = 1;
  int copy = 0;
  if (safe_copy(::getpid(), &copy, reinterpret_cast<Address>(&probe), sizeof(probe))) return;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
  pipe_out_.reset(ends[0]);
  pipe_in_.reset(ends[1]);
}

bool SelfMemory::copy(void* out, Address from, size_t size) const noexcept {
  return pipe_in_ ? copy_through_pipe(out, from, size) : safe_copy(::getpid(), out, from, size);
}

bool SelfMemory::copy_all(std::span<const MemoryPiece> pieces) const noexcept {
  if (pipe_in_) return Memory::copy_all(pieces);
  constexpr size_t kAtOnce = 32;
  for (; !pieces.empty(); pieces = pieces.subspan(std::min(pieces.size(), kAtOnce))) {
    iovec local[kAtOnce], remote[kAtOnce];
    size_t count = 0;
    ssize_t bytes = 0;
    for (; count < std::min(pieces.size(), kAtOnce); ++count) {
      local[count] = {pieces[count].out, pieces[count].size};
      remote[count] = {reinterpret_cast<void*>(pieces[count].from), pieces[count].size};
      bytes += static_cast<ssize_t>(pieces[count].size);
    }
    if (::process_vm_readv(::getpid(), local, count, remote, count, 0) != bytes) return false;
  }
  return true;
}

bool SelfMemory::copy_through_pipe(void* out, Address from, size_t size) const noexcept {
  constexpr size_t kAtOnce = 4096;  // a pipe takes that much in one piece
  auto* target = static_cast<uint8_t*>(out);
  while (size > 0) {
    const size_t part = std::min(size, kAtOnce);
    const ssize_t written = ::write(pipe_in_.get(), reinterpret_cast<const void*>(from), part);
    if (written <= 0) return false;
    if (::read(pipe_out_.get(), target, static_cast<size_t>(written)) != written) return false;
    target += written;
    from += static_cast<size_t>(written);
    size -= static_cast<size_t>(written);
  }
  return true;
}

}  // namespace tarsier::linux
