// The kernel path of sampling, lent to a process that has no right to make it itself. What it gets are maps; program
// and clocks stay with the lender, so nothing of it outlives him.
//
// A borrower must never see another process's memory, whatever he does with his descriptors. Three things see to that:
// - The program keeps to one process id, which the lender sets and nobody can change.
// - A process id may be given to another process, and a process may become another by executing a program, with more
//   rights maybe: so the program also compares when the process was started and how many programs it has executed.
// - Which those are the program itself tells, once it has seen the process. They are believed if the process belongs to
//   the borrower's user *after* that, in the sense of the kernel: then either it was his already when it was seen, or
//   what was seen is gone, and never comes back.
#pragma once

#include <sys/types.h>

#include <array>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
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
  [[nodiscard]] bool is_trusted() const { return trusted_; }

 private:
  KernelLoan(KernelParts parts, DrawnTicks ticks, std::string process, uid_t user)
      : parts_(std::move(parts)), ticks_(std::move(ticks)), process_(std::move(process)), user_(user) {}

  KernelParts parts_;
  DrawnTicks ticks_;
  std::string process_;  // its folder in /proc
  uid_t user_;
  bool trusted_ = false;
};

// The borrower's side: what the lender's descriptors() have become here.
Result<KernelParts> borrow_kernel_parts(std::vector<unique_fd> descriptors);

}  // namespace tarsier::linux
