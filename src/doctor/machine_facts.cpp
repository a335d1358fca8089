#include "doctor/machine_facts.h"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>

#include "attach/process.h"
#include "attach/text_file.h"
#include "linux/kernel_parts.h"
#include "linux/kernel_symbols.h"
#include "linux/probes.h"
#include "linux/procfs.h"

namespace tarsier::doctor {
namespace {

constexpr size_t kSmallFile = 64 << 10;

bool exists(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0;
}

std::string text_of(const std::string& path) {
  const auto text = attach::read_text_file(path, kSmallFile);
  return text ? *text : std::string();
}

Tracefs tracefs_of(const Places& places) {
  const std::string folders[] = {places.sys + "/kernel/tracing", places.sys + "/kernel/debug/tracing"};
  for (const std::string& folder : folders) {
    if (!text_of(folder + "/events/sched/sched_switch/id").empty()) return Tracefs::kReadable;
  }
  // Where we may not look into the folder, the list of mounts still tells that it is there.
  return text_of(places.proc + "/self/mounts").find(" tracefs ") != std::string::npos ? Tracefs::kNotReadable
                                                                                      : Tracefs::kNotMounted;
}

// Best evidence first. The first pid namespace has a fixed number (include/linux/proc_ns.h).
std::string container_of(const Places& places) {
  std::array<char, 64> link{};
  if (::readlink((places.proc + "/self/ns/pid").c_str(), link.data(), link.size() - 1) > 0 &&
      std::string_view(link.data()) != "pid:[4026531836]") {
    return "a pid namespace of its own";
  }
  const std::string cgroups = text_of(places.proc + "/self/cgroup");
  for (const char* const word : {"docker", "kubepods", "libpod", "lxc", "containerd"}) {
    if (cgroups.find(word) != std::string::npos) return std::string("cgroup of ") + word;
  }
  return "";
}

std::string absolute(const std::string& folder) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(folder.c_str(), nullptr), std::free);
  return real ? real.get() : folder;
}

}  // namespace

KernelAnswers ask_kernel() {
  KernelAnswers answers;
  answers.perf_user = linux::try_perf_event(linux::PerfEvent::kUserTime);
  answers.perf_kernel = linux::try_perf_event(linux::PerfEvent::kUserAndKernel);
  answers.perf_cycles = linux::try_perf_event(linux::PerfEvent::kCycles);
  answers.cpu_timer = linux::try_cpu_timer();
  answers.bpf = linux::try_bpf();
  answers.tick = linux::kernel_tick();
  timespec resolution{};
  ::clock_getres(CLOCK_MONOTONIC, &resolution);
  answers.timer_resolution = Nanos(resolution.tv_sec * 1'000'000'000 + resolution.tv_nsec);
  return answers;
}

MachineFacts gather_machine(const Places& places, const KernelAnswers& answers) {
  MachineFacts facts;
  facts.answers = answers;
  utsname names{};
  if (::uname(&names) == 0) {
    facts.kernel = names.release;
    facts.architecture = names.machine;
  }
  facts.user = ::geteuid();
  facts.user_name = attach::user_name(facts.user);
  facts.cpus = std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN));
  facts.page_bytes = ::sysconf(_SC_PAGESIZE);

  const auto setting = [&places](const char* name) {
    return linux::read_number((places.proc + "/sys/kernel/" + name).c_str());
  };
  facts.perf_paranoid = setting("perf_event_paranoid");
  facts.perf_mlock_kb = setting("perf_event_mlock_kb");
  facts.ptrace_scope = setting("yama/ptrace_scope");
  facts.unprivileged_bpf_disabled = setting("unprivileged_bpf_disabled");
  facts.kernel_names = linux::KernelSymbols(places.proc + "/kallsyms").available();
  facts.ebpf_built_in = !linux::fragment_program().empty();
  facts.btf = exists(places.sys + "/kernel/btf/vmlinux");
  facts.tracefs = tracefs_of(places);
  facts.own = parse_process_state(text_of(places.proc + "/self/status"));
  facts.limits = parse_limits(text_of(places.proc + "/self/limits")).value_or(ResourceLimits());
  facts.container = container_of(places);

  facts.folder = absolute(places.folder);
  facts.folder_writable = ::access(places.folder.c_str(), W_OK | X_OK) == 0;
  struct statvfs space {};
  if (::statvfs(places.folder.c_str(), &space) == 0) {
    facts.folder_free = Bytes(static_cast<int64_t>(space.f_bavail * space.f_frsize));
  }
  return facts;
}

}  // namespace tarsier::doctor
