#include "attach/jvm.h"

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "attach/java_command.h"
#include "attach/perf_data.h"
#include "attach/process.h"
#include "attach/target_root.h"
#include "attach/text_file.h"

namespace tarsier::attach {
namespace {

constexpr size_t kMaxPerfData = 4 << 20;  // 32 KB by default; -XX:PerfDataMemorySize

struct PerfFile {
  bool exists = false;
  PerfData counters;  // empty if we may not read them
};

// The directory is named after the user as the JVM knows it, and containers have users of their own: so the file is
// looked for in all of them, and counts only if the JVM's user owns it.
PerfFile find_perf_data(int tmp, const Process& process) {
  PerfFile found;
  const unique_fd listing(::openat(tmp, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!listing) return found;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::fdopendir(::dup(listing.get())), ::closedir);
  if (!folder) return found;
  const std::string name = std::to_string(process.status.namespace_pid);
  while (const dirent* entry = ::readdir(folder.get())) {
    if (!std::string_view(entry->d_name).starts_with("hsperfdata_")) continue;
    const unique_fd users(::openat(tmp, entry->d_name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat info {};
    if (!users || ::fstatat(users.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (!S_ISREG(info.st_mode) || info.st_uid != process.status.uid) continue;
    found.exists = true;
    const unique_fd file(::openat(users.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file) continue;
    const auto bytes = read_text_fd(file.get(), kMaxPerfData);
    if (!bytes) continue;
    if (auto counters = parse_perf_data({reinterpret_cast<const uint8_t*>(bytes->data()), bytes->size()})) {
      found.counters = std::move(*counters);
      return found;
    }
  }
  return found;
}

std::string counter(const PerfFile& file, std::string_view name) {
  const auto found = file.counters.find(name);
  return found == file.counters.end() ? std::string() : found->second;
}

// JAVA_VERSION="17.0.15" in the file `release` at the top of a JDK; libjvm.so lies two to four folders below.
std::string release_value(const TargetRoot& root, std::string path, std::string_view name) {
  const std::string key = std::string(name) + "=\"";
  for (int level = 0; level < 5; ++level) {
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos || slash == 0) break;
    path.resize(slash);
    const auto file = root.open_file(path + "/release", O_RDONLY | O_NONBLOCK);
    if (!file) continue;
    const auto text = read_text_fd(file->get(), 64 << 10);
    if (!text) continue;
    const size_t at = text->find(key);
    if (at == std::string::npos) continue;
    const size_t start = at + key.size();
    return text->substr(start, text->find('"', start) - start);
  }
  return {};
}

bool is_launcher(const Process& process) {
  if (process.command_line.empty()) return false;
  const std::string_view program = process.command_line[0];
  const size_t slash = program.rfind('/');
  return program.substr(slash == std::string_view::npos ? 0 : slash + 1) == "java";
}

bool has_attach_socket(int tmp, const Process& process) {
  struct stat info {};
  const std::string name = ".java_pid" + std::to_string(process.status.namespace_pid);
  return ::fstatat(tmp, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISSOCK(info.st_mode);
}

// Is the library code for this very machine? An emulated or 32-bit JVM can't load an agent that is.
bool is_for_this_machine(const TargetRoot& root, const std::string& libjvm) {
#if defined(__aarch64__)
  constexpr uint16_t kMachine = EM_AARCH64;
#else
  constexpr uint16_t kMachine = EM_X86_64;
#endif
  const auto file = root.open_file(libjvm, O_RDONLY | O_NONBLOCK);
  Elf64_Ehdr header{};
  if (!file || ::pread(file->get(), &header, sizeof header, 0) != sizeof header) return true;  // replaced: can't tell
  return header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == kMachine;
}

std::optional<Error> why_mute(const Process& process, const Jvm& jvm, const AttachFlags& flags, bool has_socket) {
  const std::string who = "JVM " + std::to_string(jvm.pid);
  if (process.vm && process.vm->kind == VmKind::kOpenJ9) {
    return Error{Errc::kUnsupported, who + " is OpenJ9: tarsier records HotSpot JVMs only"};
  }
  if (::geteuid() != 0 && ::geteuid() != jvm.uid) {
    return Error{Errc::kNotPermitted, who + " belongs to user " + jvm.user +
                                          ": a JVM lets only its own user attach; run as that user or as root"};
  }
  if (::geteuid() != 0 && ::getegid() != jvm.gid) {
    return Error{Errc::kNotPermitted, who + " runs with group " + std::to_string(jvm.gid) + ", we with " +
                                          std::to_string(::getegid()) +
                                          ": a JVM lets only its own group attach; run with that group or as root"};
  }
  if (flags.attach_disabled) {
    return Error{Errc::kNotPermitted, who +
                                          " was started with -XX:+DisableAttachMechanism: start it without that, or "
                                          "record it from its start by: tarsier record -- java ..."};
  }
  if (process.status.state == 'T' || process.status.state == 't') {
    return Error{Errc::kNotPermitted,
                 who + " is stopped and can't answer: continue it by: kill -CONT " + std::to_string(jvm.pid)};
  }
  if (!has_socket && !catches_sigquit(process.status)) {
    if (flags.reduced_signals) {
      return Error{Errc::kNotPermitted, who + " was started with -Xrs, so its attach socket /tmp/.java_pid" +
                                            std::to_string(jvm.namespace_pid) +
                                            " can't be made again after it was deleted: start the JVM anew"};
    }
    return Error{Errc::kNotPermitted, who +
                                          " does not handle SIGQUIT yet, which would kill it: wait until it has "
                                          "started"};
  }
  return std::nullopt;
}

std::optional<Error> find_obstacle(const Process& process, const Jvm& jvm, const AttachFlags& flags,
                                   bool other_machine) {
  if (jvm.mute) return jvm.mute;
  const std::string who = "JVM " + std::to_string(jvm.pid);
  if (process.vm && process.vm->musl) {
    return Error{Errc::kNotPermitted, who +
                                          " runs on musl (Alpine): the agent does not work there yet, it needs glibc; "
                                          "run the program on a JDK for glibc, or record it with the JDK's own JFR and "
                                          "read that recording with: tarsier report FILE"};
  }
  if (other_machine) {
    return Error{Errc::kNotPermitted, who +
                                          " runs code of another architecture than this tarsier: use the tarsier that "
                                          "was built for it"};
  }
  if (flags.agent_loading_disabled) {
    return Error{Errc::kNotPermitted, who +
                                          " was started with -XX:-EnableDynamicAgentLoading: start it without that, "
                                          "or record it from its start by: tarsier record -- java ..."};
  }
  return std::nullopt;
}

Result<Jvm> describe(const Process& process) {
  const auto no_jvm = [&process] {
    const std::string program = process.command_line.empty() ? "a kernel thread" : process.command_line[0];
    return Error{Errc::kNotFound, "process " + std::to_string(process.pid) + " is not a JVM (it is " + program + ")"};
  };
  if (process.vm && process.vm->kind == VmKind::kNone) return no_jvm();

  Jvm jvm;
  jvm.pid = process.pid;
  jvm.namespace_pid = process.status.namespace_pid;
  jvm.uid = process.status.uid;
  jvm.gid = process.status.gid;
  jvm.user = user_name(jvm.uid);
  jvm.uptime = process.uptime;

  PerfFile perf;
  bool has_socket = false, other_machine = false;
  const auto root = TargetRoot::open(process.pid, jvm.namespace_pid);
  if (root) {
    jvm.own_root = !root->is_ours();
    other_machine = process.vm && !is_for_this_machine(*root, process.vm->libjvm);
    if (const auto tmp = root->open_file("/tmp", O_PATH | O_DIRECTORY)) {
      perf = find_perf_data(tmp->get(), process);
      has_socket = has_attach_socket(tmp->get(), process);
    }
  }
  // Where we may not look into the maps, what the JVM leaves in /tmp or its name must do.
  if (!process.vm && !perf.exists && !is_launcher(process)) return no_jvm();

  jvm.version = counter(perf, "java.property.java.version");
  if (jvm.version.empty() && root && process.vm) jvm.version = release_value(*root, process.vm->libjvm, "JAVA_VERSION");
  jvm.main = main_of_java_command(counter(perf, "sun.rt.javaCommand"));
  if (jvm.main.empty() && is_launcher(process)) jvm.main = main_of_command_line(process.command_line);

  jvm.vendor = counter(perf, "java.property.java.vm.vendor");
  jvm.vm_name = counter(perf, "java.property.java.vm.name");
  if (jvm.vendor.empty() && root && process.vm) {
    jvm.vendor = release_value(*root, process.vm->libjvm, "IMPLEMENTOR");
  }

  if (is_launcher(process)) jvm.arguments = jvm_arguments(process.command_line, process.environment);
  for (const char* counted : {"java.rt.vmFlags", "java.rt.vmArgs"}) jvm.arguments += " " + counter(perf, counted);
  AttachFlags flags;
  apply_arguments(jvm.arguments, flags);
  jvm.mute = why_mute(process, jvm, flags, has_socket);
  jvm.obstacle = find_obstacle(process, jvm, flags, other_machine);
  return jvm;
}

}  // namespace

Result<Jvm> find_jvm(pid_t pid) {
  const auto process = read_process(pid);
  if (!process) return process.error();
  return describe(*process);
}

std::vector<Jvm> list_jvms() {
  std::vector<Jvm> jvms;
  for (const pid_t pid : all_processes()) {
    if (pid == ::getpid()) continue;
    if (auto jvm = find_jvm(pid)) jvms.push_back(std::move(*jvm));
  }
  std::sort(jvms.begin(), jvms.end(), [](const Jvm& a, const Jvm& b) { return a.pid < b.pid; });
  return jvms;
}

}  // namespace tarsier::attach
