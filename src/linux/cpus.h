// The CPUs of this machine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tarsier::linux {

// "0-3,8" as {0, 1, 2, 3, 8}; empty if it is no such list.
std::vector<int> parse_cpu_list(std::string_view text);
std::vector<int> online_cpus();  // that run now
size_t possible_cpus();          // that there can be, with those that may be plugged in; at least 1

}  // namespace tarsier::linux
