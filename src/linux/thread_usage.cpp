#include "linux/thread_usage.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "linux/machine_times.h"
#include "linux/task_file.h"

namespace tarsier::linux {
namespace {

// The number at the beginning, behind blanks, tabs and a colon.
std::optional<int64_t> number_at(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t:");
  if (begin == std::string_view::npos) return std::nullopt;
  int64_t value = 0;
  const bool ok = std::from_chars(text.data() + begin, text.data() + text.size(), value).ec == std::errc();
  return ok && value >= 0 ? std::optional(value) : std::nullopt;
}

// What follows the key, which stands at the beginning of a line.
std::optional<int64_t> number_of_line(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  return at == std::string_view::npos ? std::nullopt : number_at(text.substr(at + key.size()));
}

ThreadUsage usage_of(int who) {
  rusage used{};
  ThreadUsage usage;
  if (::getrusage(who, &used) != 0) return usage;
  const auto nanos = [](const timeval& time) { return Nanos(time.tv_sec * 1'000'000'000 + time.tv_usec * 1'000); };
  usage.user = nanos(used.ru_utime);
  usage.system = nanos(used.ru_stime);
  usage.voluntary_switches = used.ru_nvcsw;
  usage.involuntary_switches = used.ru_nivcsw;
  usage.minor_faults = used.ru_minflt;
  usage.major_faults = used.ru_majflt;
  return usage;
}

}  // namespace

void parse_thread_stat(std::string_view text, ThreadUsage& usage) {
  // The second field, the name in parentheses, may contain anything: fields are counted from behind it.
  constexpr int kMinorFaults = 10, kMajorFaults = 12, kUser = 14, kSystem = 15;
  const size_t name_end = text.rfind(')');
  if (name_end == std::string_view::npos) return;
  text.remove_prefix(name_end + 1);
  for (int field = 3; field <= kSystem; ++field) {
    const size_t begin = text.find_first_not_of(' ');
    if (begin == std::string_view::npos) return;
    text.remove_prefix(begin);
    const auto value = number_at(text);
    if (field == kMinorFaults) usage.minor_faults = value;
    if (field == kMajorFaults) usage.major_faults = value;
    if (field == kUser && value) usage.user = Nanos(*value * machine_tick().count);
    if (field == kSystem && value) usage.system = Nanos(*value * machine_tick().count);
    text.remove_prefix(std::min(text.find(' '), text.size()));
  }
}

void parse_thread_schedstat(std::string_view text, ThreadUsage& usage) {
  // CPU time, time in the queue, times that it got a CPU: 0 on a kernel that keeps no account, since we have run.
  const size_t queued = text.find(' ');
  const size_t times = queued == std::string_view::npos ? queued : text.find(' ', queued + 1);
  if (times == std::string_view::npos || number_at(text.substr(times)).value_or(0) == 0) return;
  if (const auto value = number_at(text)) usage.cpu = Nanos(*value);
  if (const auto value = number_at(text.substr(queued))) usage.queued = Nanos(*value);
}

void parse_thread_status(std::string_view text, ThreadUsage& usage) {
  // The name comes first and may contain anything but a line's end.
  usage.voluntary_switches = number_of_line(text, "\nvoluntary_ctxt_switches:");
  usage.involuntary_switches = number_of_line(text, "\nnonvoluntary_ctxt_switches:");
}

void parse_thread_sched(std::string_view text, ThreadUsage& usage) {
  usage.migrations = number_of_line(text, "\nse.nr_migrations");
}

ThreadUsages::ThreadUsages(const std::string& process_folder)
    : tasks_(::open((process_folder + "/task").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}

std::optional<ThreadUsage> ThreadUsages::of(pid_t tid) const {
  char buffer[kTaskFileBytes];
  ThreadUsage usage;
  const std::string_view stat = read_task_file(tasks_.get(), tid, "stat", buffer);
  if (stat.empty()) return std::nullopt;
  parse_thread_stat(stat, usage);
  parse_thread_schedstat(read_task_file(tasks_.get(), tid, "schedstat", buffer), usage);
  parse_thread_status(read_task_file(tasks_.get(), tid, "status", buffer), usage);
  parse_thread_sched(read_task_file(tasks_.get(), tid, "sched", buffer), usage);
  return usage;
}

ThreadUsage ThreadUsages::of_current(bool with_queue) const {
  ThreadUsage usage = usage_of(RUSAGE_THREAD);
  if (!with_queue) return usage;
  char buffer[kTaskFileBytes];
  parse_thread_schedstat(read_task_file(tasks_.get(), ::gettid(), "schedstat", buffer), usage);
  return usage;
}

ThreadUsage usage_of_process() {
  return usage_of(RUSAGE_SELF);
}

}  // namespace tarsier::linux
