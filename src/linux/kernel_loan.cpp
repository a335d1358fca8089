#include "linux/kernel_loan.h"

#include <sys/stat.h>

#include <bit>
#include <cerrno>
#include <utility>

#include "linux/bpf_map.h"
#include "linux/kernel_types.h"
#include "linux/procfs.h"

namespace tarsier::linux {
namespace {

constexpr size_t kLargestRing = size_t{1} << 30;

// Where the kernel keeps what tells a process from others.
Status find_identity(bpf::Settings& settings) {
  const auto types = KernelTypes::of_kernel();
  if (!types) return types.error();
  const auto leader = types->member("task_struct", "group_leader");
  auto start = types->member("task_struct", "start_boottime");
  if (!start) start = types->member("task_struct", "real_start_time");  // before 5.5
  const auto executed = types->member("task_struct", "self_exec_id");
  const bool known = leader && start && executed && start->size == 8 && (executed->size == 4 || executed->size == 8);
  if (!known) return Error{Errc::kUnsupported, "this kernel's types do not tell what a process is known by"};
  settings.task_leader = leader->offset;
  settings.leader_start = start->offset;
  settings.task_executed = executed->offset;
  settings.executed_bytes = executed->size;
  return {};
}

// May ordinary users see where the kernel's functions are?
bool users_may_see_kernel() {
  return read_number("/proc/sys/kernel/perf_event_paranoid").value_or(4) <= 1;
}

// As long as a process has more rights than its user, or has had them since it executed its program, the kernel gives
// its files to root. (Not its folder, which always is the user's.)
Status check_owner(const std::string& process, uid_t user) {
  struct stat file {};
  if (::stat((process + "/status").c_str(), &file) != 0) return errno_error("looking at " + process, errno);
  if (file.st_uid == user) return {};
  return Error{Errc::kNotPermitted, "by its files in /proc the process is user " + std::to_string(file.st_uid) +
                                        "'s, not user " + std::to_string(user) +
                                        "'s: it has, or had, more rights than its user"};
}

}  // namespace

Result<KernelLoan> KernelLoan::make(const LoanRequest& request) {
  if (!std::has_single_bit(request.ring_bytes) || request.ring_bytes > kLargestRing ||
      request.interval < Nanos(static_cast<int64_t>(CpuTicks::kFinestNs))) {
    return Error{Errc::kFailed, "there is no such ring or interval"};
  }
  const std::string process = "/proc/" + std::to_string(request.process);
  if (Status status = check_owner(process, request.user); !status) return std::move(status).error();
  bpf::Settings settings{};
  settings.java = request.java;
  settings.hide_kernel = users_may_see_kernel() ? 0 : 1;
  if (Status status = aim_at(settings, process); !status) return std::move(status).error();
  if (Status status = find_identity(settings); !status) return std::move(status).error();
  auto parts = make_kernel_parts(settings, {request.ring_bytes});
  if (!parts) return std::move(parts).error();
  DrawnTicks ticks(std::exchange(parts->ticks, {}), std::exchange(parts->periods, {}), request.interval);
  if (Status status = ticks.start(); !status) return std::move(status).error();
  return KernelLoan(std::move(*parts), std::move(ticks), process, request.user);
}

std::array<int, KernelLoan::kDescriptors> KernelLoan::descriptors() const {
  return {parts_.threads.get(), parts_.bottoms.get(), parts_.ring.get(), parts_.counters.get()};
}

Status KernelLoan::look() {
  ticks_.draw_those_due();
  if (trusted_) return {};
  bpf::Identity seen{};
  const uint32_t seen_key = bpf::kSeen, trusted_key = bpf::kTrusted;
  if (const int err = find_in_bpf_map(parts_.identities.get(), &seen_key, &seen)) {
    return errno_error("reading what the eBPF program has seen", err);
  }
  if (seen.start == 0 || seen.check != bpf::check_of(&seen)) return {};
  if (Status status = check_owner(process_, user_); !status) return status;
  if (const int err = set_in_bpf_map(parts_.identities.get(), &trusted_key, &seen)) {
    return errno_error("telling the eBPF program its process", err);
  }
  trusted_ = true;
  return {};
}

Result<KernelParts> borrow_kernel_parts(std::vector<unique_fd> descriptors) {
  if (descriptors.size() != KernelLoan::kDescriptors) {
    return Error{Errc::kFailed, "the command has sent other descriptors than were asked for"};
  }
  KernelParts parts;
  parts.threads = std::move(descriptors[0]);
  parts.bottoms = std::move(descriptors[1]);
  parts.ring = std::move(descriptors[2]);
  parts.counters = std::move(descriptors[3]);
  return parts;
}

}  // namespace tarsier::linux
