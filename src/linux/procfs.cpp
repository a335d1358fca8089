#include "linux/procfs.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "linux/thread_clock.h"

namespace tarsier::linux {
namespace {

std::string read_small_file(const char* path) {
  const unique_fd fd(::open(path, O_RDONLY | O_CLOEXEC));
  if (!fd) return {};
  char buffer[4096];
  const ssize_t n = ::read(fd.get(), buffer, sizeof(buffer));
  return n > 0 ? std::string(buffer, static_cast<size_t>(n)) : std::string();
}

}  // namespace

std::vector<pid_t> thread_ids(const char* tasks) {
  std::vector<pid_t> ids;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(tasks), ::closedir);
  if (folder == nullptr) return ids;
  while (const dirent* entry = ::readdir(folder.get())) {
    pid_t id = 0;
    const char* end = entry->d_name + std::strlen(entry->d_name);
    if (std::from_chars(entry->d_name, end, id).ptr == end && id > 0) ids.push_back(id);
  }
  return ids;
}

uint64_t thread_count() {
  struct stat tasks {};
  if (::stat("/proc/self/task", &tasks) != 0) return 0;
  return tasks.st_nlink >= 2 ? tasks.st_nlink - 2 : 0;  // a folder each, besides . and ..
}

std::string thread_name(pid_t tid) {
  std::string name = read_small_file(("/proc/self/task/" + std::to_string(tid) + "/comm").c_str());
  if (!name.empty() && name.back() == '\n') name.pop_back();
  return name;
}

std::optional<Nanos> thread_cpu_time(pid_t tid) {
  timespec t{};
  if (::clock_gettime(thread_cpu_clock(tid), &t) != 0) return std::nullopt;
  return Nanos(t.tv_sec * 1'000'000'000 + t.tv_nsec);
}

char thread_state(pid_t tid) {
  const std::string stat = read_small_file(("/proc/self/task/" + std::to_string(tid) + "/stat").c_str());
  const size_t after_name = stat.rfind(')');  // the name may contain anything
  return after_name != std::string::npos && after_name + 2 < stat.size() ? stat[after_name + 2] : '\0';
}

std::optional<SleepingPlace> sleeping_place(pid_t tid) {
  // "running", or the number of the system call (-1 in a fault), its arguments, and at the end sp and pc.
  const std::string text = read_small_file(("/proc/self/task/" + std::to_string(tid) + "/syscall").c_str());
  if (text.starts_with("running")) return SleepingPlace{};
  const size_t pc = text.rfind(" 0x");
  const size_t sp = pc == std::string::npos || pc == 0 ? std::string::npos : text.rfind(" 0x", pc - 1);
  if (sp == std::string::npos) return std::nullopt;
  SleepingPlace place;
  const auto read = [&](size_t from, size_t to, uint64_t& out) {
    return std::from_chars(text.data() + from + 3, text.data() + to, out, 16).ec == std::errc();
  };
  if (!read(sp, pc, place.sp) || !read(pc, text.size(), place.pc)) return std::nullopt;
  return place;
}

std::optional<uint64_t> sleeping_sp(pid_t tid) {
  const auto place = sleeping_place(tid);
  return place ? std::optional(place->sp) : std::nullopt;
}

std::optional<int64_t> read_number(const char* path) {
  const std::string text = read_small_file(path);
  int64_t value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc()) return std::nullopt;
  return value;
}

uint64_t blocked_signals() {
  const std::string status = read_small_file("/proc/self/status");
  constexpr std::string_view kKey = "SigBlk:\t";
  const size_t at = status.find(kKey);
  uint64_t mask = 0;
  if (at != std::string::npos) {
    std::from_chars(status.data() + at + kKey.size(), status.data() + status.size(), mask, 16);
  }
  return mask;
}

int usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return ::sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set)
                                                        : static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
}

Nanos process_age() {
  const std::string stat = read_small_file("/proc/self/stat");
  // The name in parentheses may contain anything; what follows the last one is numbers. Field 22 is the start in
  // clock ticks since boot, the 20th after the name.
  const size_t after_name = stat.rfind(')');
  if (after_name == std::string::npos) return {};
  const char* p = stat.data() + after_name + 1;
  const char* end = stat.data() + stat.size();
  int64_t value = 0;
  for (int field = 3; field <= 22 && p < end; ++field) {
    while (p < end && *p == ' ') ++p;
    const char* next = static_cast<const char*>(std::memchr(p, ' ', static_cast<size_t>(end - p)));
    if (field == 22) std::from_chars(p, end, value);
    p = next == nullptr ? end : next;
  }
  const Nanos started(value * (1'000'000'000 / ::sysconf(_SC_CLK_TCK)));
  return clock_now(CLOCK_BOOTTIME) - started;
}

Nanos kernel_tick() {
  timespec t{};
  ::clock_getres(CLOCK_MONOTONIC_COARSE, &t);
  return Nanos(t.tv_sec * 1'000'000'000 + t.tv_nsec);
}

}  // namespace tarsier::linux
