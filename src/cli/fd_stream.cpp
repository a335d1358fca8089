#include "cli/fd_stream.h"

#include <unistd.h>

#include <cerrno>

namespace tarsier::cli {
namespace {
constexpr size_t kPiece = 1 << 20;
}

Status FdBuffer::finish() {
  flush_if(0);
  return error_ == 0 ? Status() : Status(errno_error("can't write", error_));
}

int FdBuffer::overflow(int c) {
  if (c != traits_type::eof()) pending_.push_back(traits_type::to_char_type(c));
  return flush_if(kPiece) ? traits_type::not_eof(c) : traits_type::eof();
}

std::streamsize FdBuffer::xsputn(const char* text, std::streamsize size) {
  pending_.append(text, static_cast<size_t>(size));
  return flush_if(kPiece) ? size : 0;
}

bool FdBuffer::flush_if(size_t at_least) {
  if (pending_.size() < at_least) return true;
  std::string_view rest = pending_;
  while (error_ == 0 && !rest.empty()) {
    const ssize_t n = ::write(fd_, rest.data(), rest.size());
    if (n >= 0) {
      rest.remove_prefix(static_cast<size_t>(n));
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  pending_.clear();
  return error_ == 0;
}

}  // namespace tarsier::cli
