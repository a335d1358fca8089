// What /proc says about one process: who it is, whether it is a HotSpot JVM, and whether SIGQUIT would hurt it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace tarsier::attach {

struct ProcessStatus {      // of /proc/PID/status
  pid_t namespace_pid = 0;  // the pid it has in its own, innermost pid namespace
  uid_t uid = 0;            // effective
  gid_t gid = 0;
  char state = '?';
  uint64_t signals_caught = 0;  // bit n-1 is signal n
};
// Kernels before 4.1 have no NSpid: the pid then is its own.
Result<ProcessStatus> parse_status(std::string_view text, pid_t pid);
bool catches_sigquit(const ProcessStatus& status);

// The 22nd field of /proc/PID/stat; a name with spaces and brackets in it does not confuse it.
Result<uint64_t> parse_start_ticks(std::string_view stat);

enum class VmKind { kNone, kHotSpot, kOpenJ9 };
struct MappedVm {
  VmKind kind = VmKind::kNone;
  std::string libjvm;  // its path in the process's own mount namespace
  bool musl = false;   // it runs on musl's libc (Alpine), not on glibc
};
MappedVm find_vm(std::string_view maps);

struct Process {
  pid_t pid = 0;
  ProcessStatus status;
  Nanos uptime;
  std::optional<MappedVm> vm;  // nothing if we may not look into its maps
  std::vector<std::string> command_line;
  std::string environment;  // name=value\0...; empty if we may not read it
};

// kNotFound: there is none (any more), or it is a zombie.
Result<Process> read_process(pid_t pid);
std::vector<pid_t> all_processes();
// What a user of the process's user namespace is called here; nothing if we may not know, or it is nobody here.
std::optional<uid_t> user_in_namespace(pid_t pid, uid_t inside);
// /proc/PID/uid_map: lines of first inside, first outside, count.
std::optional<uid_t> map_user(std::string_view uid_map, uid_t inside);
std::string user_name(uid_t uid);  // the number if it has no name

}  // namespace tarsier::attach
