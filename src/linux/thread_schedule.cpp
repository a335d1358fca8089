#include "linux/thread_schedule.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <string_view>

namespace tarsier::linux {
namespace {

constexpr size_t kBuffer = 4096;

// Into `buffer`; empty if it can't be read.
std::string_view read_file(int folder, pid_t tid, const char* name, char (&buffer)[kBuffer]) {
  char path[32];
  std::snprintf(path, sizeof(path), "%d/%s", tid, name);
  const unique_fd fd(::openat(folder, path, O_RDONLY | O_CLOEXEC));
  if (!fd) return {};
  const ssize_t n = ::read(fd.get(), buffer, sizeof(buffer));
  return n > 0 ? std::string_view(buffer, static_cast<size_t>(n)) : std::string_view();
}

template <class T>
bool read_number(std::string_view text, T& out) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  return std::from_chars(text.data(), text.data() + text.size(), out).ec == std::errc();
}

// What follows the key; empty if it is not there.
std::string_view behind(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  return at == std::string_view::npos ? std::string_view() : text.substr(at + key.size());
}

}  // namespace

ThreadSchedules::ThreadSchedules() : tasks_(::open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}

std::optional<ThreadSchedule> ThreadSchedules::of(pid_t tid) const {
  char buffer[kBuffer];
  ThreadSchedule schedule;
  // CPU time, time in the queue, times that it got a CPU.
  int64_t queued = 0;
  if (!read_number(behind(read_file(tasks_.get(), tid, "schedstat", buffer), " "), queued)) return std::nullopt;
  schedule.queued = Nanos(queued);
  // The name comes first and may contain anything but a line's end.
  const std::string_view status = read_file(tasks_.get(), tid, "status", buffer);
  const std::string_view state = behind(status, "\nState:\t");
  if (state.empty() || !read_number(behind(status, "\nvoluntary_ctxt_switches:"), schedule.waits)) return std::nullopt;
  schedule.state = state.front();
  return schedule;
}

bool ThreadSchedules::kernel_tells() {
  char buffer[kBuffer];
  const unique_fd tasks(::open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // A kernel without the account says that we never had a CPU.
  const std::string_view text = read_file(tasks.get(), ::gettid(), "schedstat", buffer);
  uint64_t times = 0;
  return read_number(behind(behind(text, " "), " "), times) && times > 0;
}

}  // namespace tarsier::linux
