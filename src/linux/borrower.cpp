#include "linux/borrower.h"

#include <sys/stat.h>

#include <bit>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <utility>

#include "linux/bpf_map.h"
#include "linux/kernel_parts.h"
#include "linux/kernel_types.h"
#include "linux/procfs.h"

namespace tarsier::linux {
namespace {

// Where the kernel keeps what tells a process from others.
Status find_identity(bpf::Settings& settings) {
  const auto types = KernelTypes::of_kernel();
  if (!types) return types.error();
  const auto leader = types->member("task_struct", "group_leader");
  auto start = types->member("task_struct", "start_boottime");
  if (!start) start = types->member("task_struct", "real_start_time");  // before 5.5
  const auto executed = types->member("task_struct", "self_exec_id");
  const bool known = leader && start && executed && start->size == 8 && (executed->size == 4 || executed->size == 8);
  if (!known) return Error{Errc::kUnsupported, "this kernel's types do not tell what a process is known by"};
  settings.task_leader = leader->offset;
  settings.leader_start = start->offset;
  settings.task_executed = executed->offset;
  settings.executed_bytes = executed->size;
  return {};
}

// May ordinary users see where the kernel's functions are?
bool users_may_see_kernel() {
  return read_number("/proc/sys/kernel/perf_event_paranoid").value_or(4) <= 1;
}

// May it see the processes of the machine that it runs on? Of a namespace of its own it could not.
bool may_see_processes(const std::string& process) {
  struct stat ours {
  }, theirs{};
  if (::stat("/proc/self/ns/pid", &ours) != 0 || ::stat((process + "/ns/pid").c_str(), &theirs) != 0) return false;
  if (ours.st_ino != theirs.st_ino || ours.st_dev != theirs.st_dev) return false;
  std::ifstream file(process + "/mountinfo");
  std::stringstream mounts;
  mounts << file.rdbuf();
  return shows_other_processes(mounts.str());
}

// As long as a process has more rights than its user, or has had them since it executed its program, the kernel gives
// its files to root. (Not its folder, which always is the user's.)
Status check_owner(const std::string& process, uid_t user) {
  struct stat file {};
  if (::stat((process + "/status").c_str(), &file) != 0) return errno_error("looking at " + process, errno);
  if (file.st_uid == user) return {};
  return Error{Errc::kNotPermitted, "by its files in /proc the process is user " + std::to_string(file.st_uid) +
                                        "'s, not user " + std::to_string(user) +
                                        "'s: it has, or had, more rights than its user"};
}

}  // namespace

bool is_possible_ring(size_t bytes) {
  constexpr size_t kLargest = size_t{1} << 30;
  return std::has_single_bit(bytes) && bytes <= kLargest;
}

// A line is: numbers, root, place, options, [more ..] - type, source, options of the file system.
bool shows_other_processes(const std::string& mounts) {
  bool shown = false;
  std::istringstream lines(mounts);
  for (std::string line; std::getline(lines, line);) {
    const size_t dash = line.find(" - ");
    if (dash == std::string::npos || line.compare(dash, 8, " - proc ") != 0) continue;
    const size_t hides = line.find("hidepid=", dash);
    if (hides != std::string::npos && line.compare(hides, 9, "hidepid=0") != 0 &&
        line.compare(hides, 11, "hidepid=off") != 0) {
      return false;
    }
    shown = true;
  }
  return shown;
}

Status Borrower::aim(bpf::Settings& settings) const {
  if (Status status = check_owner(process_, user_); !status) return status;
  if (Status status = aim_at(settings, process_); !status) return status;
  settings.hide_kernel = users_may_see_kernel() ? 0 : 1;
  settings.hide_processes = may_see_processes(process_) ? 0 : 1;
  return find_identity(settings);
}

Status Borrower::look(int identities) {
  if (trusted_) return {};
  bpf::Identity seen{};
  const uint32_t seen_key = bpf::kSeen, trusted_key = bpf::kTrusted;
  if (const int err = find_in_bpf_map(identities, &seen_key, &seen)) {
    return errno_error("reading what the eBPF program has seen", err);
  }
  if (seen.start == 0 || seen.check != bpf::check_of(&seen)) return {};
  if (Status status = check_owner(process_, user_); !status) return status;
  if (const int err = set_in_bpf_map(identities, &trusted_key, &seen)) {
    return errno_error("telling the eBPF program its process", err);
  }
  trusted_ = true;
  return {};
}

}  // namespace tarsier::linux
