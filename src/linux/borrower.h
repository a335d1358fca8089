// The process that eBPF programs are lent to, who has no right to load them himself. What he gets are maps; programs
// and whatever runs them stay with the lender, so nothing of it outlives him.
//
// A borrower must never see another process's memory, whatever he does with his descriptors. Three things see to that:
// - The programs keep to one process id, which the lender sets and nobody can change.
// - A process id may be given to another process, and a process may become another by executing a program, with more
//   rights maybe: so the programs also compare when the process was started and how many programs it has executed.
// - Which those are a program itself tells, once it has seen the process. They are believed if the process belongs to
//   the borrower's user *after* that, in the sense of the kernel: then either it was his already when it was seen, or
//   what was seen is gone, and never comes back.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

#include "base/result.h"
#include "linux/bpf/fragment_layout.h"

namespace tarsier::linux {

// A power of two, of whole pages, and not larger than a borrower may ask for.
bool is_possible_ring(size_t bytes);

class Borrower {
 public:
  Borrower(pid_t process, uid_t user) : process_("/proc/" + std::to_string(process)), user_(user) {}

  // For the programs: which process it is, how it is known, and what it must not be told. An error if it is not his.
  Status aim(bpf::Settings& settings) const;

  // Every few milliseconds, while the loan lasts; `identities` is the programs' map. They do nothing until it has been
  // seen whom they are about; an error if that is not the borrower.
  Status look(int identities);
  [[nodiscard]] bool is_trusted() const { return trusted_; }

 private:
  std::string process_;  // its folder in /proc
  uid_t user_;
  bool trusted_ = false;
};

// May a process with this table of mounts (/proc/PID/mountinfo) see that others exist? `mounts`: the text.
bool shows_other_processes(const std::string& mounts);

}  // namespace tarsier::linux
