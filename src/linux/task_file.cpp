#include "linux/task_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "base/unique_fd.h"

namespace tarsier::linux {

std::string_view read_task_file(int tasks, pid_t tid, const char* name, char (&buffer)[kTaskFileBytes]) {
  char path[32];
  std::snprintf(path, sizeof(path), "%d/%s", tid, name);
  const unique_fd fd(::openat(tasks, path, O_RDONLY | O_CLOEXEC));
  if (!fd) return {};
  const ssize_t n = ::read(fd.get(), buffer, sizeof(buffer));
  return n > 0 ? std::string_view(buffer, static_cast<size_t>(n)) : std::string_view();
}

}  // namespace tarsier::linux
