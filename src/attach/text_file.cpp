#include "attach/text_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/unique_fd.h"

namespace tarsier::attach {

Result<std::string> read_text_fd(int fd, size_t limit) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return errno_error("fstat", errno);
  if (!S_ISREG(info.st_mode)) return Error{Errc::kCorrupt, "not a regular file"};
  std::string text;
  char buffer[16 << 10];
  while (text.size() < limit) {
    const ssize_t n = ::read(fd, buffer, std::min(sizeof buffer, limit - text.size()));
    if (n == 0) break;
    if (n < 0) {
      if (errno == EINTR) continue;
      return errno_error("read", errno);
    }
    text.append(buffer, static_cast<size_t>(n));
  }
  return text;
}

Result<std::string> read_text_file(const std::string& path, size_t limit) {
  const unique_fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) {
    const int err = errno;
    const Errc code = err == ENOENT || err == ESRCH   ? Errc::kNotFound
                      : err == EACCES || err == EPERM ? Errc::kNotPermitted
                                                      : Errc::kFailed;
    return errno_error(path, err, code);
  }
  auto text = read_text_fd(fd.get(), limit);
  if (!text) return std::move(text).error().in(path);
  return text;
}

}  // namespace tarsier::attach
