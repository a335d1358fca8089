#include "linux/machine_times.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>

namespace tarsier::linux {
namespace {

enum Column : uint8_t { kUser, kNice, kSystem, kIdle, kIoWait, kIrq, kSoftIrq, kSteal, kColumns };

}  // namespace

Nanos machine_tick() {
  static const Nanos tick(1'000'000'000 / ::sysconf(_SC_CLK_TCK));
  return tick;
}

std::optional<MachineTimes> parse_machine_times(std::string_view stat) {
  constexpr std::string_view kAllCpus = "cpu ";
  constexpr int64_t kMost = int64_t{1} << 53;  // so that sums of them in ns fit
  if (!stat.starts_with(kAllCpus)) return std::nullopt;
  std::string_view line = stat.substr(kAllCpus.size(), stat.find('\n') - kAllCpus.size());
  std::array<int64_t, kColumns> ticks{};
  size_t known = 0;
  for (; known < kColumns; ++known) {
    while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), ticks[known]);
    if (error != std::errc() || ticks[known] < 0 || ticks[known] > kMost / machine_tick().count) break;
    line.remove_prefix(static_cast<size_t>(end - line.data()));
  }
  if (known <= kIdle) return std::nullopt;
  const auto sum = [&](std::initializer_list<Column> columns) {
    int64_t all = 0;
    for (const Column column : columns) all += ticks[column];
    return Nanos(all * machine_tick().count);
  };
  return MachineTimes{sum({kUser, kNice, kSystem, kIrq, kSoftIrq}), sum({kIdle, kIoWait}), sum({kSteal})};
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

}  // namespace tarsier::linux
