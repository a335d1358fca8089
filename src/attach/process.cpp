#include "attach/process.h"

#include <dirent.h>
#include <pwd.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <charconv>
#include <memory>

#include "attach/text_file.h"
#include "base/clock.h"

namespace tarsier::attach {
namespace {

constexpr size_t kSmallFile = 64 << 10;
constexpr size_t kMapsFile = 64 << 20;  // a JVM with many mappings has some MB of them

template <class T>
bool parse_number(std::string_view text, T& value, int base = 10) {
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && rest == text.data() + text.size();
}

// The next word of `text`, which is shortened by it; empty at the end.
std::string_view take_word(std::string_view& text, std::string_view blanks = " \t") {
  const size_t start = std::min(text.find_first_not_of(blanks), text.size());
  const size_t end = std::min(text.find_first_of(blanks, start), text.size());
  const std::string_view word = text.substr(start, end - start);
  text.remove_prefix(end);
  return word;
}

std::string_view take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::vector<std::string> split_at_nul(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\0'), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::string proc_path(pid_t pid, const char* file) {
  return "/proc/" + std::to_string(pid) + "/" + file;
}

}  // namespace

Result<ProcessStatus> parse_status(std::string_view text, pid_t pid) {
  ProcessStatus status;
  status.namespace_pid = pid;
  bool has_uid = false, has_gid = false, has_signals = false;
  while (!text.empty()) {
    std::string_view rest = take_line(text);
    const size_t colon = rest.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = rest.substr(0, colon);
    rest.remove_prefix(colon + 1);
    if (key == "State") {
      const std::string_view word = take_word(rest);
      if (!word.empty()) status.state = word[0];
    } else if (key == "Uid" || key == "Gid") {  // real, effective, saved, file system
      take_word(rest);
      uint32_t id = 0;
      if (!parse_number(take_word(rest), id)) continue;
      (key == "Uid" ? status.uid : status.gid) = id;
      (key == "Uid" ? has_uid : has_gid) = true;
    } else if (key == "NSpid") {
      for (std::string_view word = take_word(rest); !word.empty(); word = take_word(rest)) {
        parse_number(word, status.namespace_pid);
      }
    } else if (key == "SigCgt") {
      has_signals = parse_number(take_word(rest), status.signals_caught, 16);
    }
  }
  if (!has_uid || !has_gid || !has_signals) return Error{Errc::kCorrupt, "status lacks Uid, Gid or SigCgt"};
  return status;
}

bool catches_sigquit(const ProcessStatus& status) {
  return (status.signals_caught >> (SIGQUIT - 1) & 1) != 0;
}

Result<uint64_t> parse_start_ticks(std::string_view stat) {
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos) return Error{Errc::kCorrupt, "stat has no name"};
  std::string_view rest = stat.substr(name_end + 1);
  for (int field = 3; field < 22; ++field) take_word(rest, " \n");
  uint64_t ticks = 0;
  if (!parse_number(take_word(rest, " \n"), ticks)) return Error{Errc::kCorrupt, "stat has no start time"};
  return ticks;
}

MappedVm find_vm(std::string_view maps) {
  MappedVm vm;
  while (!maps.empty()) {
    std::string_view line = take_line(maps);
    const size_t slash = line.find('/');
    if (slash == std::string_view::npos) continue;
    std::string_view path = line.substr(slash);
    constexpr std::string_view kDeleted = " (deleted)";  // the JDK was updated under the running JVM
    if (path.ends_with(kDeleted)) path.remove_suffix(kDeleted.size());
    // OpenJ9 has a libjvm.so too: a thin one that calls libj9vm.
    if (path.find("/libj9vm") != std::string_view::npos) {
      vm.kind = VmKind::kOpenJ9;
      return vm;
    }
    // musl is its own loader: /lib/ld-musl-x86_64.so.1, also named libc.musl-x86_64.so.1.
    const std::string_view file = path.substr(path.rfind('/') + 1);
    vm.musl = vm.musl || file.starts_with("ld-musl-") || file.starts_with("libc.musl-");
    if (path.ends_with("/libjvm.so") && vm.kind == VmKind::kNone) {
      vm.kind = VmKind::kHotSpot;
      vm.libjvm = path;
    }
  }
  return vm;
}

Result<Process> read_process(pid_t pid) {
  const auto gone = [pid] { return Error{Errc::kNotFound, "there is no process " + std::to_string(pid)}; };
  if (pid <= 0) return gone();
  const auto status_text = read_text_file(proc_path(pid, "status"), kSmallFile);
  if (!status_text) return gone();
  auto status = parse_status(*status_text, pid);
  if (!status) return std::move(status).error().in("/proc/" + std::to_string(pid));
  if (status->state == 'Z' || status->state == 'X') {
    return Error{Errc::kNotFound, "process " + std::to_string(pid) + " has ended (zombie)"};
  }

  Process process;
  process.pid = pid;
  process.status = *status;
  const auto stat = read_text_file(proc_path(pid, "stat"), kSmallFile);
  if (!stat) return gone();
  if (const auto ticks = parse_start_ticks(*stat)) {
    const auto per_second = static_cast<uint64_t>(std::max(1L, ::sysconf(_SC_CLK_TCK)));
    const Nanos started(
        static_cast<int64_t>(*ticks / per_second * 1'000'000'000 + *ticks % per_second * 1'000'000'000 / per_second));
    process.uptime = std::max(Nanos(0), clock_now(CLOCK_BOOTTIME) - started);
  }
  if (const auto maps = read_text_file(proc_path(pid, "maps"), kMapsFile)) process.vm = find_vm(*maps);
  if (const auto words = read_text_file(proc_path(pid, "cmdline"), 1 << 20)) {
    process.command_line = split_at_nul(*words);
  }
  if (auto environment = read_text_file(proc_path(pid, "environ"), 1 << 20)) {
    process.environment = std::move(*environment);
  }
  return process;
}

std::vector<pid_t> all_processes() {
  std::vector<pid_t> pids;
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"), ::closedir);
  if (!proc) return pids;
  while (const dirent* entry = ::readdir(proc.get())) {
    pid_t pid = 0;
    if (parse_number(std::string_view(entry->d_name), pid) && pid > 0) pids.push_back(pid);
  }
  return pids;
}

std::optional<uid_t> map_user(std::string_view uid_map, uid_t inside) {
  while (!uid_map.empty()) {
    std::string_view line = take_line(uid_map);
    uint32_t first_inside = 0, first_outside = 0, count = 0;
    if (!parse_number(take_word(line), first_inside) || !parse_number(take_word(line), first_outside) ||
        !parse_number(take_word(line), count)) {
      continue;
    }
    if (inside >= first_inside && inside - first_inside < count) return first_outside + (inside - first_inside);
  }
  return std::nullopt;
}

std::optional<uid_t> user_in_namespace(pid_t pid, uid_t inside) {
  const auto text = read_text_file(proc_path(pid, "uid_map"), kSmallFile);
  return text ? map_user(*text, inside) : std::nullopt;
}

std::string user_name(uid_t uid) {
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> buffer(16 << 10);
  if (::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) {
    return found->pw_name;
  }
  return std::to_string(uid);
}

}  // namespace tarsier::attach
