#include "linux/steal_in_cpu_time.h"

#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>

#include "base/unique_fd.h"

namespace tarsier::linux {
namespace {

// Of struct rq, only in kernels that keep stolen time out of the threads' time.
constexpr std::string_view kMember{"\0prev_steal_time_rq\0", 20};

// Nothing if there is no such file. The file is some megabytes long: in pieces that overlap.
std::optional<bool> file_contains(const std::string& path, std::string_view what) {
  const unique_fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return std::nullopt;
  constexpr size_t kPiece = 256 << 10;
  std::string piece;
  size_t kept = 0;
  for (;;) {
    piece.resize(kept + kPiece);
    const ssize_t n = ::read(fd.get(), piece.data() + kept, kPiece);
    if (n < 0) return std::nullopt;
    if (n == 0) return false;
    piece.resize(kept + static_cast<size_t>(n));
    if (piece.find(what) != std::string::npos) return true;
    kept = std::min(piece.size(), what.size() - 1);
    piece.erase(0, piece.size() - kept);
  }
}

std::optional<std::string> read_text(const std::string& path) {
  const unique_fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return std::nullopt;
  constexpr size_t kMost = 1 << 20;
  std::string text(kMost, '\0');
  size_t size = 0;
  for (ssize_t n = 1; n > 0 && size < kMost;) {
    n = ::read(fd.get(), text.data() + size, kMost - size);
    if (n < 0) return std::nullopt;
    size += static_cast<size_t>(n);
  }
  text.resize(size);
  return text;
}

}  // namespace

std::optional<bool> excluded_by_config(std::string_view config) {
  if (config.find("CONFIG_PARAVIRT_TIME_ACCOUNTING=y\n") != std::string_view::npos) return true;
  if (config.find("CONFIG_HZ") == std::string_view::npos) return std::nullopt;  // no configuration at all
  return false;
}

bool proves_inclusion(Nanos process_cpu, Nanos busy, Nanos stolen, Nanos slack) {
  return process_cpu.count > busy.count + stolen.count / 10 + slack.count;
}

StealInCpuTime find_steal_in_cpu_time(const std::string& root) {
  if (const auto has = file_contains(root + "/sys/kernel/btf/vmlinux", kMember)) {
    return *has ? StealInCpuTime{false, "the kernel keeps it out of the threads' CPU time (by its types)"}
                : StealInCpuTime{true, "the kernel counts it as CPU time of the threads (by its types)"};
  }
  utsname name{};
  ::uname(&name);
  for (const std::string& path :
       {root + "/boot/config-" + name.release, root + "/lib/modules/" + name.release + "/config"}) {
    const auto text = read_text(path);
    const auto excluded = text ? excluded_by_config(*text) : std::nullopt;
    if (!excluded) continue;
    return *excluded ? StealInCpuTime{false, "the kernel keeps it out of the threads' CPU time (by its configuration)"}
                     : StealInCpuTime{true, "the kernel counts it as CPU time of the threads (by its configuration)"};
  }
  return {false, "assumed to be no part of the threads' CPU time, as in most distributions' kernels"};
}

}  // namespace tarsier::linux
