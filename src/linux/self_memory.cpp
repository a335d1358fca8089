#include "linux/self_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace tarsier::linux {
namespace {

constexpr size_t kWindow = 64 << 10;

bool files_may_be_that_large() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur >= kWindow;
}

}  // namespace

SelfMemory::SelfMemory() {
  if (files_may_be_that_large()) file_.reset(::memfd_create("tarsier", MFD_CLOEXEC));
  if (file_ && ::ftruncate(file_.get(), kWindow) == 0) window_ = Mapping::of(file_.get(), kWindow);
  if (window_) return;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
  pipe_out_.reset(ends[0]);
  pipe_in_.reset(ends[1]);
}

bool SelfMemory::copy(void* out, Address from, size_t size) const noexcept {
  const MemoryPiece piece{out, from, size};
  return copy_all({&piece, 1});
}

bool SelfMemory::copy_all(std::span<const MemoryPiece> pieces) const noexcept {
  const std::lock_guard guard(lock_);
  constexpr size_t kAtOnce = 64;
  size_t done = 0;  // of the first piece
  while (!pieces.empty()) {
    if (!window_) {
      if (!copy_through_pipe(pieces[0].out, pieces[0].from, pieces[0].size)) return false;
      pieces = pieces.subspan(1);
      continue;
    }
    iovec from[kAtOnce];
    size_t count = 0, bytes = 0;
    for (; count < std::min(pieces.size(), kAtOnce) && bytes < kWindow; ++count) {
      const size_t begin = count == 0 ? done : 0;
      from[count] = {reinterpret_cast<void*>(pieces[count].from + begin),
                     std::min(pieces[count].size - begin, kWindow - bytes)};
      bytes += from[count].iov_len;
    }
    if (bytes > 0 && ::pwritev(file_.get(), from, static_cast<int>(count), 0) != static_cast<ssize_t>(bytes))
      return false;
    const uint8_t* copied = window_.data();
    for (size_t i = 0; i < count; ++i) {
      const size_t begin = i == 0 ? done : 0;
      if (from[i].iov_len > 0) std::memcpy(static_cast<uint8_t*>(pieces[i].out) + begin, copied, from[i].iov_len);
      copied += from[i].iov_len;
      if (i + 1 == count) done = begin + from[i].iov_len;
    }
    const bool is_last_whole = done == pieces[count - 1].size;
    pieces = pieces.subspan(is_last_whole ? count : count - 1);
    if (is_last_whole) done = 0;
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
