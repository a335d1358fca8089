// Does this kernel count time that the hypervisor has stolen as CPU time of the thread that was running? Kernels that
// are built with CONFIG_PARAVIRT_TIME_ACCOUNTING do not. Who subtracts it once more is wrong by twice as much.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"

namespace tarsier::linux {

struct StealInCpuTime {
  bool included = false;
  std::string why;
};

// Looks into the kernel's own description of its types, then into its configuration, below `root`.
StealInCpuTime find_steal_in_cpu_time(const std::string& root = "");

// Does the text of a kernel's configuration say that stolen time is not counted?
std::optional<bool> excluded_by_config(std::string_view config);

// The proof: threads of one process can't have used more CPU time than all CPUs were busy, unless the stolen time is in
// it. `slack`: what the clocks may differ by.
bool proves_inclusion(Nanos process_cpu, Nanos busy, Nanos stolen, Nanos slack);

}  // namespace tarsier::linux
