// What a thread has used and what has happened to it, by the kernel's account since it was started.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "base/units.h"

namespace tarsier::linux {

// Nothing: the kernel does not tell.
struct ThreadUsage {
  std::optional<Nanos> cpu;           // to the nanosecond
  std::optional<Nanos> user, system;  // in ticks of the kernel's
  std::optional<Nanos> queued;        // could have run, but had no CPU
  std::optional<int64_t> voluntary_switches, involuntary_switches;
  std::optional<int64_t> minor_faults, major_faults;
  std::optional<int64_t> migrations;
};

// The texts of /proc/PID/task/TID/stat, schedstat, status and sched.
void parse_thread_stat(std::string_view text, ThreadUsage& usage);
void parse_thread_schedstat(std::string_view text, ThreadUsage& usage);
void parse_thread_status(std::string_view text, ThreadUsage& usage);
void parse_thread_sched(std::string_view text, ThreadUsage& usage);

// CPU time of a thread from which on it is worth reading what else the kernel knows of it, which takes a hundred times
// as long as its CPU clock.
constexpr Nanos kWorthReading = millis(1);

class ThreadUsages {
 public:
  // Of the process's threads, by default our own.
  explicit ThreadUsages(const std::string& process_folder = "/proc/self");
  // Nothing once it is gone. Four files, some 30 us.
  [[nodiscard]] std::optional<ThreadUsage> of(pid_t tid) const;
  // Of the calling thread: a system call, and one file if `with_queue`.
  [[nodiscard]] ThreadUsage of_current(bool with_queue) const;

 private:
  unique_fd tasks_;
};

// Of the whole process, ended threads included; the run queue and migrations are not known.
ThreadUsage usage_of_process();

}  // namespace tarsier::linux
