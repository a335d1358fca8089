// The program that follows who is on which CPU, lent to a process that has no right to load it itself. What keeps the
// borrower to his own process: borrower.h.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "base/result.h"
#include "linux/borrower.h"
#include "linux/turn_parts.h"

namespace tarsier::linux {

class TurnLoan {
 public:
  // To that process, as we see it, of that user.
  static Result<TurnLoan> make(pid_t process, uid_t user);

  // For borrow_turn_parts().
  static constexpr size_t kDescriptors = 2;
  [[nodiscard]] std::array<int, kDescriptors> descriptors() const { return {parts_.turns.get(), parts_.cpus.get()}; }

  // Every few milliseconds, while it lasts, as that of a KernelLoan.
  Status look() { return borrower_.look(parts_.identities.get()); }
  [[nodiscard]] bool is_trusted() const { return borrower_.is_trusted(); }

 private:
  TurnLoan(TurnParts parts, Borrower borrower) : parts_(std::move(parts)), borrower_(std::move(borrower)) {}

  TurnParts parts_;
  Borrower borrower_;
};

// The borrower's side: what the lender's descriptors() have become here.
Result<TurnParts> borrow_turn_parts(std::vector<unique_fd> descriptors);

}  // namespace tarsier::linux
