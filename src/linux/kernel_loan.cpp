#include "linux/kernel_loan.h"

#include <utility>

namespace tarsier::linux {

Result<KernelLoan> KernelLoan::make(const LoanRequest& request) {
  if (!is_possible_ring(request.ring_bytes) || request.interval < Nanos(static_cast<int64_t>(CpuTicks::kFinestNs))) {
    return Error{Errc::kFailed, "there is no such ring or interval"};
  }
  Borrower borrower(request.process, request.user);
  bpf::Settings settings{};
  settings.java = request.java;
  if (Status status = borrower.aim(settings); !status) return std::move(status).error();
  auto parts = make_kernel_parts(settings, {request.ring_bytes});
  if (!parts) return std::move(parts).error();
  DrawnTicks ticks(std::exchange(parts->ticks, {}), std::exchange(parts->periods, {}), request.interval);
  if (Status status = ticks.start(); !status) return std::move(status).error();
  return KernelLoan(std::move(*parts), std::move(ticks), std::move(borrower));
}

std::array<int, KernelLoan::kDescriptors> KernelLoan::descriptors() const {
  return {parts_.threads.get(), parts_.bottoms.get(), parts_.ring.get(), parts_.counters.get()};
}

Status KernelLoan::look() {
  ticks_.draw_those_due();
  return borrower_.look(parts_.identities.get());
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
