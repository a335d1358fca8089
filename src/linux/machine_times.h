// What became of the time of all CPUs since the machine was started: /proc/stat. The root of the proc file system can
// be replaced by a recorded or made-up one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "base/units.h"

namespace tarsier::linux {

struct MachineTimes {
  Nanos busy;   // something ran: user, nice, system and interrupts. Without what was stolen, on every kernel
  Nanos idle;   // and waiting for disks
  Nanos steal;  // a CPU had something to run, but the hypervisor did not let it
};

// The first line of /proc/stat. Nothing if that is something else; an old kernel's line, without steal, has none.
std::optional<MachineTimes> parse_machine_times(std::string_view stat);
// Of the lines after it: what was stolen from each CPU, by its number. CPUs that are not there have lost nothing.
std::vector<Nanos> parse_cpu_steal(std::string_view stat);

// The kernel counts in these.
Nanos machine_tick();

class MachineClock {
 public:
  static Result<MachineClock> open(const std::string& proc_root = "/proc");
  // Nothing if it can't be read (any more).
  [[nodiscard]] std::optional<MachineTimes> read() const;
  [[nodiscard]] std::vector<Nanos> read_cpu_steal() const;

 private:
  MachineClock(std::string path, unique_fd file) : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  unique_fd file_;
};

}  // namespace tarsier::linux
