#include "cli/signals.h"

#include <cerrno>

namespace tarsier::cli {

Result<Signals> Signals::take() {
  ::signal(SIGPIPE, SIG_IGN);
  sigset_t wanted;
  ::sigemptyset(&wanted);
  ::sigaddset(&wanted, SIGCHLD);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    ::sigaction(number, nullptr, &action);
    // A held-back signal reaches the descriptor even if it is ignored.
    if (action.sa_handler != SIG_IGN) ::sigaddset(&wanted, number);
  }
  Signals signals;
  if (::sigprocmask(SIG_BLOCK, &wanted, &signals.previous_) != 0) return errno_error("sigprocmask", errno);
  signals.descriptor_.reset(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals.descriptor_) return errno_error("signalfd", errno);
  return signals;
}

Signals::~Signals() {
  if (descriptor_) ::sigprocmask(SIG_SETMASK, &previous_, nullptr);
}

std::optional<signalfd_siginfo> Signals::next() {
  signalfd_siginfo info{};
  if (::read(descriptor_.get(), &info, sizeof info) != sizeof info) return std::nullopt;
  return info;
}

bool from_terminal(const signalfd_siginfo& info) {
  return info.ssi_code == SI_KERNEL;
}

}  // namespace tarsier::cli
