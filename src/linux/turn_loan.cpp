#include "linux/turn_loan.h"

namespace tarsier::linux {

Result<TurnLoan> TurnLoan::make(pid_t process, uid_t user) {
  Borrower borrower(process, user);
  bpf::Settings settings{};
  if (Status status = borrower.aim(settings); !status) return std::move(status).error();
  auto parts = make_turn_parts(settings);
  if (!parts) return std::move(parts).error();
  return TurnLoan(std::move(*parts), std::move(borrower));
}

Result<TurnParts> borrow_turn_parts(std::vector<unique_fd> descriptors) {
  if (descriptors.size() != TurnLoan::kDescriptors) {
    return Error{Errc::kFailed, "the command has sent other descriptors than were asked for"};
  }
  TurnParts parts;
  parts.turns = std::move(descriptors[0]);
  parts.cpus = std::move(descriptors[1]);
  return parts;
}

}  // namespace tarsier::linux
