#include "linux/wait_loan.h"

namespace tarsier::linux {

Result<WaitLoan> WaitLoan::make(const WaitLoanRequest& request) {
  constexpr size_t kMostCopies = size_t{1} << 30;
  if (!is_possible_ring(request.memory.ring) || request.memory.copies > kMostCopies) {
    return Error{Errc::kFailed, "there is no such ring, or no memory for so many copies"};
  }
  Borrower borrower(request.process, request.user);
  bpf::Settings settings{};
  settings.java = request.java;
  settings.min_wait_ns = static_cast<uint64_t>(request.min.count);
  settings.max_wait_ns = static_cast<uint64_t>(request.max.count);
  if (Status status = borrower.aim(settings); !status) return std::move(status).error();
  auto parts = make_wait_parts(settings, request.memory);
  if (!parts) return std::move(parts).error();
  return WaitLoan(std::move(*parts), std::move(borrower));
}

std::array<int, WaitLoan::kDescriptors> WaitLoan::descriptors() const {
  return {parts_.threads.get(),  parts_.slots.get(),     parts_.bottoms.get(),   parts_.ring.get(),
          parts_.counters.get(), parts_.copies[0].get(), parts_.copies[1].get(), parts_.copies[2].get()};
}

Result<WaitParts> borrow_wait_parts(std::vector<unique_fd> descriptors) {
  if (descriptors.size() != WaitLoan::kDescriptors) {
    return Error{Errc::kFailed, "the command has sent other descriptors than were asked for"};
  }
  WaitParts parts;
  parts.threads = std::move(descriptors[0]);
  parts.slots = std::move(descriptors[1]);
  parts.bottoms = std::move(descriptors[2]);
  parts.ring = std::move(descriptors[3]);
  parts.counters = std::move(descriptors[4]);
  for (size_t i = 0; i < parts.copies.size(); ++i) parts.copies[i] = std::move(descriptors[5 + i]);
  return parts;
}

}  // namespace tarsier::linux
