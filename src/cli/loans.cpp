#include "cli/loans.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace tarsier::cli {
namespace {

// What is the same in all requests.
template <class Request, class Wanted>
Status fill_in(Request& request, const Wanted& wanted, const control::Channel& channel) {
  const auto peer = control::peer_credentials(channel.fd());
  if (!peer) return peer.error();
  if (wanted.layout.size() * sizeof(uint64_t) != sizeof(request.java)) {
    return Error{Errc::kFailed, "agent and command are of different versions"};
  }
  std::memcpy(&request.java, wanted.layout.data(), sizeof(request.java));
  request.process = static_cast<pid_t>(peer->pid);
  request.user = peer->uid;
  return {};
}

Status check_memory(Bytes wanted, const char* what, const control::SessionOptions& options) {
  if (wanted.count > 0 && wanted <= options.memory) return {};
  return Error{Errc::kFailed, "the agent asks for " + std::string(what) + " that --memory has no room for"};
}

Result<linux::KernelLoan> make_loan(const control::KernelWanted& wanted, const control::Channel& channel,
                                    const control::SessionOptions& options) {
  linux::LoanRequest request;
  if (Status status = fill_in(request, wanted, channel); !status) return std::move(status).error();
  if (Status status = check_memory(wanted.ring, "a ring", options); !status) return std::move(status).error();
  request.interval = options.interval.count != 0 ? options.interval : control::kDefaultInterval;
  request.ring_bytes = static_cast<size_t>(wanted.ring.count);
  return linux::KernelLoan::make(request);
}

Result<linux::WaitLoan> make_loan(const control::WaitsWanted& wanted, const control::Channel& channel,
                                  const control::SessionOptions& options) {
  linux::WaitLoanRequest request;
  if (!options.waits) return Error{Errc::kFailed, "nobody has asked for waits"};
  if (Status status = fill_in(request, wanted, channel); !status) return std::move(status).error();
  if (Status status = check_memory(wanted.ring, "a ring", options); !status) return std::move(status).error();
  if (Status status = check_memory(wanted.copies, "copies", options); !status) return std::move(status).error();
  // There are copies of several sizes, and a borrower may take as many of each as he was granted of one.
  const Bytes all = wanted.ring + wanted.copies * std::ssize(linux::WaitParts::kCopyBytes);
  if (Status status = check_memory(all, "so many copies", options); !status) return std::move(status).error();
  request.min = options.waits_min;
  request.max = options.waits_max;
  request.memory = {static_cast<size_t>(wanted.ring.count), static_cast<size_t>(wanted.copies.count)};
  return linux::WaitLoan::make(request);
}

Result<linux::TurnLoan> make_loan(const control::TurnsWanted&, const control::Channel& channel,
                                  const control::SessionOptions& options) {
  if (options.steal_by != "schedule") return Error{Errc::kFailed, "nobody has asked who is on which CPU"};
  const auto peer = control::peer_credentials(channel.fd());
  if (!peer) return peer.error();
  return linux::TurnLoan::make(static_cast<pid_t>(peer->pid), peer->uid);
}

// `tell`: what the answer says of a loan besides its descriptors.
template <class Lent, class Loan, class Wanted, class Tell>
Status answer(const Wanted& wanted, std::optional<Loan>& loan, control::Channel& channel,
              const control::SessionOptions& options, Nanos patience, Tell tell) {
  Lent lent;
  if (loan) {
    lent.refusal = "it was lent already";
    return channel.send(lent, patience);
  }
  auto made = make_loan(wanted, channel, options);
  if (!made) {
    lent.refusal = made.error().what;
    return channel.send(lent, patience);
  }
  loan.emplace(std::move(*made));
  tell(*loan, lent);
  return channel.send(lent, patience, loan->descriptors());
}

}  // namespace

Status Loans::lend(const control::KernelWanted& wanted, control::Channel& channel,
                   const control::SessionOptions& options, Nanos patience) {
  return answer<control::KernelLent>(wanted, sampling_, channel, options, patience,
                                     [](const linux::KernelLoan& loan, control::KernelLent& lent) {
                                       lent.scratch = Bytes(static_cast<int64_t>(loan.parts().scratch_bytes));
                                       lent.sees_kernel = loan.parts().sees_kernel;
                                       lent.hides_kernel = loan.parts().hides_kernel;
                                     });
}

Status Loans::lend(const control::WaitsWanted& wanted, control::Channel& channel,
                   const control::SessionOptions& options, Nanos patience) {
  return answer<control::WaitsLent>(wanted, waits_, channel, options, patience,
                                    [](const linux::WaitLoan& loan, control::WaitsLent& lent) {
                                      lent.maps = Bytes(static_cast<int64_t>(loan.parts().map_bytes));
                                    });
}

Status Loans::lend(const control::TurnsWanted& wanted, control::Channel& channel,
                   const control::SessionOptions& options, Nanos patience) {
  return answer<control::TurnsLent>(wanted, turns_, channel, options, patience,
                                    [](const linux::TurnLoan&, control::TurnsLent&) {});
}

Status Loans::look() {
  Status status = sampling_ ? sampling_->look() : Status();
  if (status && waits_) status = waits_->look();
  if (status && turns_) status = turns_->look();
  if (status) return {};
  sampling_.reset();
  waits_.reset();
  turns_.reset();
  return status;
}

// Periods of ticks are drawn anew after some hundred of them; and nothing is seen before it is clear whom it is about.
Nanos Loans::patience() const {
  Nanos patience = seconds(1);
  if (sampling_) patience = millis(20);
  const auto is_doubtful = [](const auto& loan) { return loan && !loan->is_trusted(); };
  if (is_doubtful(sampling_) || is_doubtful(waits_) || is_doubtful(turns_)) patience = millis(5);
  return patience;
}

}  // namespace tarsier::cli
