// The JVMs of this machine, containers included: found through /proc and /tmp/hsperfdata_*, described as far as we may
// look at them, and judged whether we can attach.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace tarsier::attach {

struct Jvm {
  pid_t pid = 0;
  pid_t namespace_pid = 0;  // what it takes itself for
  uid_t uid = 0;            // effective: what the JVM compares peers with
  gid_t gid = 0;
  std::string user;
  std::string version;    // 17.0.15; empty if unknown
  std::string main;       // main class, jar or module as started; empty if unknown
  std::string vendor;     // of the VM; empty if unknown
  std::string vm_name;    // OpenJDK 64-Bit Server VM; empty if unknown
  std::string arguments;  // what we know of its JVM arguments, blank-separated; later ones win
  Nanos uptime;
  bool own_root = false;          // its files are not ours: a container or a chroot
  std::optional<Error> obstacle;  // why we can't load our agent, and what to do
  std::optional<Error> mute;      // why it can't even be asked about itself; then that is the obstacle
};

// kNotFound if there is no such process, or it is no JVM.
Result<Jvm> find_jvm(pid_t pid);
std::vector<Jvm> list_jvms();  // by pid, without ourselves

}  // namespace tarsier::attach
