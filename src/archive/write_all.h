#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <span>

#include "base/result.h"

namespace tarsier::archive {

inline Status write_all(std::span<const uint8_t> bytes, int fd) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return errno_error("can't write", n < 0 ? errno : ENOSPC);
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return {};
}

}  // namespace tarsier::archive
