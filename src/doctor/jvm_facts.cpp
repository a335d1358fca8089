#include "doctor/jvm_facts.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <memory>

#include "attach/target_root.h"
#include "attach/text_file.h"
#include "doctor/live_flags.h"
#include "doctor/mapped_libraries.h"
#include "linux/elf.h"
#include "linux/usdt.h"

namespace tarsier::doctor {
namespace {

constexpr size_t kSmallFile = 64 << 10;
constexpr size_t kMapsFile = 64 << 20;

constexpr std::string_view kFlags[] = {
    "DebugNonSafepoints",  "UsePerfData",       "DisableAttachMechanism", "EnableDynamicAgentLoading",
    "StartAttachListener", "ReduceSignalUsage", "FlightRecorder"};

std::string text_of(const std::string& path) {
  const auto text = attach::read_text_file(path, kSmallFile);
  return text ? *text : std::string();
}

std::string link_of(const std::string& path) {
  std::array<char, 256> target{};
  return ::readlink(path.c_str(), target.data(), target.size() - 1) > 0 ? target.data() : "";
}

std::optional<std::vector<std::string>> different_namespaces(const std::string& proc, const std::string& process) {
  std::vector<std::string> different;
  for (const char* const kind : {"mnt", "pid", "user"}) {
    const std::string theirs = link_of(process + "/ns/" + kind);
    if (theirs.empty()) return std::nullopt;
    if (theirs != link_of(proc + "/self/ns/" + kind)) different.emplace_back(kind);
  }
  return different;
}

std::vector<std::string> thread_names(const std::string& process) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(::opendir((process + "/task").c_str()), ::closedir);
  if (!tasks) return names;
  while (const dirent* entry = ::readdir(tasks.get())) {
    if (entry->d_name[0] == '.') continue;
    std::string name = text_of(process + "/task/" + entry->d_name + "/comm");
    if (!name.empty() && name.back() == '\n') name.pop_back();
    if (!name.empty()) names.push_back(std::move(name));
  }
  return names;
}

Libc libc_of(const std::vector<MappedLibrary>& libraries) {
  for (const MappedLibrary& library : libraries) {
    const std::string_view name = std::string_view(library.path).substr(library.path.rfind('/') + 1);
    if (name.starts_with("ld-musl") || name.starts_with("libc.musl")) return Libc::kMusl;
    if (name.starts_with("ld-linux") || name == "libc.so.6") return Libc::kGlibc;
  }
  return Libc::kUnknown;
}

// The file that is mapped as libjvm.so, or why it can't be had.
Result<linux::ElfFile> open_libjvm(const attach::Jvm& jvm, const MappedLibrary& mapped) {
  const auto root = attach::TargetRoot::open(jvm.pid, jvm.namespace_pid);
  if (!root) return root.error();
  auto file = root->open_file(mapped.path, O_RDONLY | O_NONBLOCK);
  struct stat info {};
  const bool replaced = mapped.deleted || (file && ::fstat(file->get(), &info) == 0 &&
                                           static_cast<uint64_t>(info.st_ino) != mapped.inode);
  if (replaced) return Error{Errc::kFailed, mapped.path + " was replaced since this JVM started (an update)"};
  if (!file) return std::move(file).error();
  return linux::ElfFile::read(std::move(*file));
}

LibraryFacts describe(const linux::ElfFile& file) {
  LibraryFacts facts;
  facts.machine = file.machine();
  facts.has_symtab = file.section(".symtab") != nullptr;
  facts.has_async_get_call_trace = file.symbol("AsyncGetCallTrace").has_value();
  facts.has_vm_structs = file.symbol("gHotSpotVMStructs").has_value();
  if (const auto probes = linux::usdt_probes(file)) facts.usdt_probes = probes->size();
  return facts;
}

void look_into_libjvm(JvmFacts& facts, const std::vector<MappedLibrary>& libraries) {
  const auto mapped = std::find_if(libraries.begin(), libraries.end(),
                                   [](const MappedLibrary& l) { return l.path.ends_with("/libjvm.so"); });
  if (mapped == libraries.end()) {
    facts.library_unknown = facts.flags_unknown = "no libjvm.so is mapped";
    return;
  }
  const auto file = open_libjvm(facts.jvm, *mapped);
  if (!file) {
    facts.library_unknown = facts.flags_unknown = file.error().what;
    return;
  }
  facts.library = describe(*file);
  auto flags = live_flags(facts.jvm.pid, *file, mapped->base, kFlags);
  if (flags) {
    facts.flags = std::move(*flags);
  } else {
    facts.flags_unknown = flags.error().what;
  }
}

}  // namespace

int major_version(std::string_view version) {
  if (version.starts_with("1.")) version.remove_prefix(2);
  int major = 0;
  std::from_chars(version.data(), version.data() + version.size(), major);
  return major;
}

void flags_of_arguments(std::string_view arguments, std::map<std::string, bool, std::less<>>& flags) {
  while (!arguments.empty()) {
    const size_t end = std::min(arguments.find_first_of(" \t\n"), arguments.size());
    const std::string_view word = arguments.substr(0, end);
    arguments.remove_prefix(std::min(end + 1, arguments.size()));
    if (word.size() < 6 || !word.starts_with("-XX:") || (word[4] != '+' && word[4] != '-')) continue;
    const std::string_view name = word.substr(5);
    if (std::find(std::begin(kFlags), std::end(kFlags), name) != std::end(kFlags)) {
      flags.insert_or_assign(std::string(name), word[4] == '+');
    }
  }
}

JvmFacts gather_jvm(const Places& places, const attach::Jvm& jvm) {
  JvmFacts facts;
  facts.jvm = jvm;
  facts.major = major_version(jvm.version);
  const std::string process = places.proc + "/" + std::to_string(jvm.pid);
  facts.own_namespaces = different_namespaces(places.proc, process);
  if (const std::string status = text_of(process + "/status"); !status.empty()) {
    facts.state = parse_process_state(status);
  }
  facts.limits = parse_limits(text_of(process + "/limits"));
  facts.thread_names = thread_names(process);

  const auto maps = attach::read_text_file(process + "/maps", kMapsFile);
  if (maps) {
    const auto libraries = mapped_libraries(*maps);
    for (const MappedLibrary& library : libraries) facts.libraries.push_back(library.path);
    facts.libc = libc_of(libraries);
    look_into_libjvm(facts, libraries);
  } else {
    facts.unreadable = facts.library_unknown = facts.flags_unknown = maps.error().what;
  }
  if (!facts.flags_unknown.empty()) flags_of_arguments(jvm.arguments, facts.flags);
  return facts;
}

}  // namespace tarsier::doctor
