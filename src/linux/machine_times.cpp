#include "linux/machine_times.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>

#include "linux/cpus.h"

namespace tarsier::linux {
namespace {

enum Column : uint8_t { kUser, kNice, kSystem, kIdle, kIoWait, kIrq, kSoftIrq, kSteal, kColumns };

std::string_view first_line(std::string_view text) {
  return text.substr(0, text.find('\n'));
}

// Those that an old kernel does not have are 0.
std::optional<std::array<int64_t, kColumns>> parse_columns(std::string_view line) {
  constexpr int64_t kMost = int64_t{1} << 53;  // so that sums of them in ns fit
  std::array<int64_t, kColumns> ticks{};
  size_t known = 0;
  for (; known < kColumns; ++known) {
    while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
    int64_t value = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
    if (error != std::errc() || value < 0 || value > kMost / machine_tick().count) break;
    ticks[known] = value;
    line.remove_prefix(static_cast<size_t>(end - line.data()));
  }
  if (known <= kIdle) return std::nullopt;
  return ticks;
}

}  // namespace

Nanos machine_tick() {
  static const Nanos tick(1'000'000'000 / ::sysconf(_SC_CLK_TCK));
  return tick;
}

std::optional<MachineTimes> parse_machine_times(std::string_view stat) {
  constexpr std::string_view kAllCpus = "cpu ";
  if (!stat.starts_with(kAllCpus)) return std::nullopt;
  const auto ticks = parse_columns(first_line(stat).substr(kAllCpus.size()));
  if (!ticks) return std::nullopt;
  const auto sum = [&](std::initializer_list<Column> columns) {
    int64_t all = 0;
    for (const Column column : columns) all += (*ticks)[column];
    return Nanos(all * machine_tick().count);
  };
  return MachineTimes{sum({kUser, kNice, kSystem, kIrq, kSoftIrq}), sum({kIdle, kIoWait}), sum({kSteal})};
}

std::vector<Nanos> parse_cpu_steal(std::string_view stat) {
  constexpr std::string_view kCpu = "cpu";
  constexpr size_t kMostCpus = 1 << 16;
  std::vector<Nanos> stolen;
  for (; !stat.empty(); stat.remove_prefix(std::min(first_line(stat).size() + 1, stat.size()))) {
    std::string_view line = first_line(stat);
    if (!line.starts_with(kCpu)) break;  // they come first
    line.remove_prefix(kCpu.size());
    size_t cpu = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), cpu);
    if (error != std::errc() || cpu >= kMostCpus) continue;
    const auto ticks = parse_columns(line.substr(static_cast<size_t>(end - line.data())));
    if (!ticks) continue;
    stolen.resize(std::max(stolen.size(), cpu + 1));
    stolen[cpu] = Nanos((*ticks)[kSteal] * machine_tick().count);
  }
  return stolen;
}

Result<MachineClock> MachineClock::open(const std::string& proc_root) {
  std::string path = proc_root + "/stat";
  unique_fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return errno_error("opening '" + path + "'", errno);
  return MachineClock(std::move(path), std::move(file));
}

std::optional<MachineTimes> MachineClock::read() const {
  char buffer[512];  // the first line is what counts
  const ssize_t n = ::pread(file_.get(), buffer, sizeof(buffer), 0);
  return n > 0 ? parse_machine_times(std::string_view(buffer, static_cast<size_t>(n))) : std::nullopt;
}

std::vector<Nanos> MachineClock::read_cpu_steal() const {
  // Up to 200 characters for each CPU; whatever comes after them may be left out.
  std::string text((possible_cpus() + 2) * 200, '\0');
  const ssize_t n = ::pread(file_.get(), text.data(), text.size(), 0);
  return n > 0 ? parse_cpu_steal(std::string_view(text).substr(0, static_cast<size_t>(n))) : std::vector<Nanos>();
}

}  // namespace tarsier::linux
