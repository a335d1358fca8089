#include "linux/perf_counters.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "linux/perf_open.h"

namespace tarsier::linux {
namespace {

struct Named {
  std::string_view name;
  uint32_t type;
  uint64_t config;
};
constexpr uint64_t cache(uint64_t which, uint64_t operation, uint64_t result) {
  return which | operation << 8 | result << 16;
}
constexpr uint64_t kRead = PERF_COUNT_HW_CACHE_OP_READ, kMiss = PERF_COUNT_HW_CACHE_RESULT_MISS,
                   kAccess = PERF_COUNT_HW_CACHE_RESULT_ACCESS;
constexpr Named kNamed[] = {
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
    {"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {"branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {"bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES},
    {"stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
    {"stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
    {"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES},
    {"L1-dcache-loads", PERF_TYPE_HW_CACHE, cache(PERF_COUNT_HW_CACHE_L1D, kRead, kAccess)},
    {"L1-dcache-load-misses", PERF_TYPE_HW_CACHE, cache(PERF_COUNT_HW_CACHE_L1D, kRead, kMiss)},
    {"L1-icache-load-misses", PERF_TYPE_HW_CACHE, cache(PERF_COUNT_HW_CACHE_L1I, kRead, kMiss)},
    {"LLC-loads", PERF_TYPE_HW_CACHE, cache(PERF_COUNT_HW_CACHE_LL, kRead, kAccess)},
    {"LLC-load-misses", PERF_TYPE_HW_CACHE, cache(PERF_COUNT_HW_CACHE_LL, kRead, kMiss)},
    {"dTLB-load-misses", PERF_TYPE_HW_CACHE, cache(PERF_COUNT_HW_CACHE_DTLB, kRead, kMiss)},
    {"iTLB-load-misses", PERF_TYPE_HW_CACHE, cache(PERF_COUNT_HW_CACHE_ITLB, kRead, kMiss)},
    {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    {"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
    {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
    {"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
    {"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
    {"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
    {"alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS},
    {"emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS},
};

int open_counter(pid_t tid, const PerfEvent& event) {
  perf_event_attr attr;
  std::memset(&attr, 0, sizeof(attr));
  attr.size = sizeof(attr);
  attr.type = event.type;
  attr.config = event.config;
  attr.exclude_hv = 1;
  attr.exclude_kernel = event.user_only ? 1 : 0;
  attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return open_perf_event(attr, tid, -1);
}

// A tracepoint's number, which the kernel has in a file. 0: there is none, or no right to read it.
uint64_t tracepoint(std::string_view group, std::string_view name, const std::string& root) {
  for (const char* folder : {"/sys/kernel/tracing/events/", "/sys/kernel/debug/tracing/events/"}) {
    const std::string path = root + folder + std::string(group) + "/" + std::string(name) + "/id";
    const unique_fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    char text[32];
    const ssize_t n = fd ? ::read(fd.get(), text, sizeof(text)) : -1;
    uint64_t id = 0;
    if (n > 0 && std::from_chars(text, text + n, id).ec == std::errc()) return id;
  }
  return 0;
}

// A part of a path, and no way out of the folder.
bool is_plain_name(std::string_view text) {
  return !text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
                              std::string_view::npos;
}

// A filter of system calls, or a setting, may refuse what no kernel is needed for.
bool may_count_anything() {
  return unique_fd(open_counter(0, {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, true})).get() >= 0;
}

std::string why_not(const PerfEvent& event, int error) {
  if (event.needs_hardware() && (error == ENOENT || error == EOPNOTSUPP || error == ENODEV)) {
    return "this machine, or its hypervisor, has no such hardware counter (no PMU?)";
  }
  if ((error == EACCES || error == EPERM) && !may_count_anything()) {
    return "perf is not permitted to the JVM, by a seccomp filter or sysctl kernel.perf_event_paranoid (tarsier doctor "
           "PID "
           "says what would help)";
  }
  if (error == EACCES || error == EPERM) {
    return "not permitted: it happens in the kernel; sysctl kernel.perf_event_paranoid=1 or CAP_PERFMON would do";
  }
  return std::string("perf_event_open: ") + std::strerror(error);
}

}  // namespace

bool PerfEvent::needs_hardware() const {
  return type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE || type == PERF_TYPE_RAW;
}

bool PerfEvent::is_of_kernel() const {
  return type == PERF_TYPE_TRACEPOINT || (type == PERF_TYPE_SOFTWARE && (config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
                                                                         config == PERF_COUNT_SW_CPU_MIGRATIONS));
}

Result<PerfEvent> find_perf_event(std::string_view name, const std::string& root) {
  for (const Named& named : kNamed) {
    if (named.name == name) return PerfEvent{std::string(name), named.type, named.config};
  }
  uint64_t raw = 0;
  if (name.size() > 1 && name[0] == 'r') {
    const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), raw, 16);
    if (error == std::errc() && end == name.data() + name.size())
      return PerfEvent{std::string(name), PERF_TYPE_RAW, raw};
  }
  const size_t colon = name.find(':');
  if (colon != std::string_view::npos && is_plain_name(name.substr(0, colon)) &&
      is_plain_name(name.substr(colon + 1))) {
    const uint64_t id = tracepoint(name.substr(0, colon), name.substr(colon + 1), root);
    if (id != 0) return PerfEvent{std::string(name), PERF_TYPE_TRACEPOINT, id};
    return Error{Errc::kUnsupported,
                 "there is no tracepoint '" + std::string(name) +
                     "', or tracefs is not mounted (mount -t tracefs tracefs /sys/kernel/tracing) or not readable"};
  }
  std::string known;
  for (const Named& named : kNamed) known += (known.empty() ? "" : ", ") + std::string(named.name);
  return Error{Errc::kUsage, "'" + std::string(name) + "' can't be counted; there are: " + known +
                                 ", raw events as rHEX and tracepoints as GROUP:NAME"};
}

UsableEvents usable_events(std::vector<PerfEvent> events) {
  UsableEvents usable;
  for (PerfEvent& event : events) {
    unique_fd fd(open_counter(0, event));
    int error = fd ? 0 : errno;
    if (!fd && (error == EACCES || error == EPERM) && !event.is_of_kernel()) {
      event.user_only = true;
      fd.reset(open_counter(0, event));
    }
    if (fd) {
      usable.events.push_back(std::move(event));
      continue;
    }
    const std::string why = why_not(event, error);
    const auto same =
        std::find_if(usable.left_out.begin(), usable.left_out.end(), [&](const auto& e) { return e.why == why; });
    if (same != usable.left_out.end()) {
      same->events += ", " + event.name;
    } else {
      usable.left_out.push_back({event.name, why});
    }
  }
  return usable;
}

int64_t ThreadCounters::Value::scaled() const {
  if (running.count <= 0) return 0;
  if (running >= enabled) return static_cast<int64_t>(value);
  return static_cast<int64_t>(static_cast<double>(value) * static_cast<double>(enabled.count) /
                              static_cast<double>(running.count));
}

std::optional<int> ThreadCounters::open(pid_t tid, const std::vector<PerfEvent>& events, ThreadCounters& out) {
  out.files_.clear();
  for (const PerfEvent& event : events) {
    unique_fd fd(open_counter(tid, event));
    if (!fd) {
      const int error = errno;
      out.files_.clear();
      return error;
    }
    out.files_.push_back(std::move(fd));
  }
  return std::nullopt;
}

std::optional<ThreadCounters::Value> ThreadCounters::read(size_t index) const {
  uint64_t words[3];  // as read_format has it
  if (::read(files_[index].get(), words, sizeof(words)) != static_cast<ssize_t>(sizeof(words))) return std::nullopt;
  return Value{words[0], Nanos(static_cast<int64_t>(words[1])), Nanos(static_cast<int64_t>(words[2]))};
}

}  // namespace tarsier::linux
