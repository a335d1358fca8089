#include "linux/thread_schedule.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <string_view>

#include "linux/task_file.h"

namespace tarsier::linux {
namespace {

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
  char buffer[kTaskFileBytes];
  ThreadSchedule schedule;
  // CPU time, time in the queue, times that it got a CPU.
  int64_t queued = 0;
  if (!read_number(behind(read_task_file(tasks_.get(), tid, "schedstat", buffer), " "), queued)) return std::nullopt;
  schedule.queued = Nanos(queued);
  // The name comes first and may contain anything but a line's end.
  const std::string_view status = read_task_file(tasks_.get(), tid, "status", buffer);
  const std::string_view state = behind(status, "\nState:\t");
  if (state.empty() || !read_number(behind(status, "\nvoluntary_ctxt_switches:"), schedule.waits)) return std::nullopt;
  schedule.state = state.front();
  return schedule;
}

bool ThreadSchedules::kernel_tells() {
  char buffer[kTaskFileBytes];
  const unique_fd tasks(::open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // A kernel without the account says that we never had a CPU.
  const std::string_view text = read_task_file(tasks.get(), ::gettid(), "schedstat", buffer);
  uint64_t times = 0;
  return read_number(behind(behind(text, " "), " "), times) && times > 0;
}

}  // namespace tarsier::linux
