// What the command lends to the JVM that it records: eBPF programs that the JVM's user may not load. To the very
// process that is at the other end of the channel, each kind once, and no more than our own user has asked for.
#pragma once

#include <optional>

#include "base/result.h"
#include "base/units.h"
#include "control/channel.h"
#include "control/messages.h"
#include "linux/kernel_loan.h"
#include "linux/turn_loan.h"
#include "linux/wait_loan.h"

namespace tarsier::cli {

class Loans {
 public:
  // Answers, with descriptors or why there are none. An error: the answer could not be sent.
  Status lend(const control::KernelWanted& wanted, control::Channel& channel, const control::SessionOptions& options,
              Nanos patience);
  Status lend(const control::WaitsWanted& wanted, control::Channel& channel, const control::SessionOptions& options,
              Nanos patience);
  Status lend(const control::TurnsWanted& wanted, control::Channel& channel, const control::SessionOptions& options,
              Nanos patience);

  // As often as patience() says, while they last. An error: it is not about the JVM any more, and the loans are over.
  Status look();
  [[nodiscard]] Nanos patience() const;

 private:
  std::optional<linux::KernelLoan> sampling_;
  std::optional<linux::WaitLoan> waits_;
  std::optional<linux::TurnLoan> turns_;
};

}  // namespace tarsier::cli
