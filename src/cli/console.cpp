#include "cli/console.h"

#include <unistd.h>

#include <cerrno>

#include "export/escape.h"

namespace tarsier::cli {
namespace {

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

}  // namespace

std::string grouped(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

void say(std::string_view text) {
  std::string clean = "tarsier: ";
  for (bool more = true; more;) {
    const size_t end = text.find('\n');
    more = end != std::string_view::npos;
    clean += exporting::visible(text.substr(0, end)) + "\n";
    text.remove_prefix(more ? end + 1 : text.size());
  }
  write_all(STDERR_FILENO, clean);
}

int exit_code(Errc code) {
  switch (code) {
    case Errc::kUsage:
      return 2;
    case Errc::kNotFound:
      return 3;
    case Errc::kNotPermitted:
    case Errc::kBusy:
      return 4;
    case Errc::kIncomplete:
      return 5;
    case Errc::kFailed:
    case Errc::kCorrupt:
    case Errc::kUnsupported:
      return 1;
  }
  return 1;
}

int fail(const Error& error) {
  say(error.what);
  return exit_code(error.code);
}

bool print(std::string_view text) {
  if (write_all(STDOUT_FILENO, text)) return true;
  const int err = errno;
  if (err != EPIPE)
    say(errno_error("can't write to stdout", err).what);  // a reader that has enough is no error to tell
  return false;
}

}  // namespace tarsier::cli
