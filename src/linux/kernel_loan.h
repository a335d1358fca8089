// The kernel path of sampling, lent to a process that has no right to make it itself. What keeps the borrower to his
// own process: borrower.h.
#pragma once

#include <sys/types.h>

#include <array>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "linux/borrower.h"
#include "linux/drawn_ticks.h"
#include "linux/kernel_parts.h"

namespace tarsier::linux {

struct LoanRequest {
  pid_t process = 0;  // the borrower's, as we see it
  uid_t user = 0;     // his
  bpf::JavaLayout java{};
  Nanos interval;
  size_t ring_bytes = 0;
};

class KernelLoan {
 public:
  static Result<KernelLoan> make(const LoanRequest& request);

  // For borrow_kernel_parts().
  static constexpr size_t kDescriptors = 4;
  [[nodiscard]] std::array<int, kDescriptors> descriptors() const;
  [[nodiscard]] const KernelParts& parts() const { return parts_; }

  // Every few milliseconds, while it lasts. Nothing is sampled until it has been seen whom it is about; an error if
  // that is not the borrower.
  Status look();
  [[nodiscard]] bool is_trusted() const { return borrower_.is_trusted(); }

 private:
  KernelLoan(KernelParts parts, DrawnTicks ticks, Borrower borrower)
      : parts_(std::move(parts)), ticks_(std::move(ticks)), borrower_(std::move(borrower)) {}

  KernelParts parts_;
  DrawnTicks ticks_;
  Borrower borrower_;
};

// The borrower's side: what the lender's descriptors() have become here.
Result<KernelParts> borrow_kernel_parts(std::vector<unique_fd> descriptors);

}  // namespace tarsier::linux
