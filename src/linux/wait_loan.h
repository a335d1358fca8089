// The programs that find waits, lent to a process that has no right to load them itself. What keeps the borrower to his
// own process: borrower.h. He has all maps but those by which programs know tasks, processes and the kernel's insides.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "linux/borrower.h"
#include "linux/wait_parts.h"

namespace tarsier::linux {

struct WaitLoanRequest {
  pid_t process = 0;  // the borrower's, as we see it
  uid_t user = 0;     // his
  bpf::JavaLayout java{};
  Nanos min, max;  // how long a wait has to be and may be; 0 for max: as long as it likes
  WaitMemory memory{};
};

class WaitLoan {
 public:
  static Result<WaitLoan> make(const WaitLoanRequest& request);

  // For borrow_wait_parts().
  static constexpr size_t kDescriptors = 8;
  [[nodiscard]] std::array<int, kDescriptors> descriptors() const;
  [[nodiscard]] const WaitParts& parts() const { return parts_; }

  // Every few milliseconds, while it lasts, as that of a KernelLoan.
  Status look() { return borrower_.look(parts_.identities.get()); }
  [[nodiscard]] bool is_trusted() const { return borrower_.is_trusted(); }

 private:
  WaitLoan(WaitParts parts, Borrower borrower) : parts_(std::move(parts)), borrower_(std::move(borrower)) {}

  WaitParts parts_;
  Borrower borrower_;
};

// The borrower's side: what the lender's descriptors() have become here.
Result<WaitParts> borrow_wait_parts(std::vector<unique_fd> descriptors);

}  // namespace tarsier::linux
