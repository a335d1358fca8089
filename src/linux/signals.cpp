#include "linux/signals.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "linux/procfs.h"

namespace tarsier::linux {
namespace {

// In order of how little anybody else wants them: the kernel never sends SIGSTKFLT; SIGPROF comes last but one, since
// other profilers and JDK 25's own CPU-time sampling install it blindly.
constexpr int kCandidates[] = {SIGSTKFLT, SIGVTALRM, SIGPROF, SIGXCPU};

bool is_free(int number) {
  if ((blocked_signals() >> (number - 1) & 1) != 0) return false;  // would never be delivered
  struct sigaction current {};
  if (::sigaction(number, nullptr, &current) != 0) return false;
  return (current.sa_flags & SA_SIGINFO) == 0 && (current.sa_handler == SIG_DFL || current.sa_handler == SIG_IGN);
}

}  // namespace

std::span<const int> signals_we_may_take() {
  return kCandidates;
}

Result<OwnedSignal> OwnedSignal::take(SignalHandler handler) {
  for (const int number : kCandidates) {
    if (is_free(number)) return take(handler, number);
  }
  return Error{Errc::kNotPermitted,
               "SIGSTKFLT, SIGVTALRM, SIGPROF and SIGXCPU are all blocked or have handlers of somebody else: stop the "
               "other profiler first"};
}

Result<OwnedSignal> OwnedSignal::take(SignalHandler handler, int number) {
  if (!is_free(number)) {
    return Error{Errc::kNotPermitted, "SIG" + std::string(::sigabbrev_np(number)) +
                                          " is blocked or has a handler of somebody else: choose another clock"};
  }
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  ::sigfillset(&action.sa_mask);
  // The JVM's own synchronous signals must get through: AsyncGetCallTrace probes memory with SafeFetch.
  for (const int synchronous : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP}) ::sigdelset(&action.sa_mask, synchronous);
  if (::sigaction(number, &action, nullptr) != 0) return errno_error("installing a signal handler", errno);
  return OwnedSignal(number, handler);
}

OwnedSignal::OwnedSignal(OwnedSignal&& other) noexcept
    : number_(std::exchange(other.number_, 0)), handler_(other.handler_) {}

bool OwnedSignal::still_ours() const {
  struct sigaction current {};
  return ::sigaction(number_, nullptr, &current) == 0 && (current.sa_flags & SA_SIGINFO) != 0 &&
         current.sa_sigaction == handler_;
}

OwnedSignal::~OwnedSignal() {
  // Somebody else's handler stays.
  if (number_ == 0 || !still_ours()) return;
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(number_, &ignore, nullptr);
}

}  // namespace tarsier::linux
