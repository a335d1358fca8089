// A signal that nobody in this process uses, and how to leave it behind.
#pragma once

#include <signal.h>

#include <span>

#include "base/result.h"

namespace tarsier::linux {

// Those that take() tries, in that order.
std::span<const int> signals_we_may_take();

using SignalHandler = void (*)(int, siginfo_t*, void*);

class OwnedSignal {
 public:
  // Takes the first standard signal without a handler. Standard, because a perf event whose real-time signal can't be
  // queued sends SIGIO instead.
  static Result<OwnedSignal> take(SignalHandler handler);
  // Takes that very signal, or says that somebody has it: for timers that can send no other.
  static Result<OwnedSignal> take(SignalHandler handler, int number);
  OwnedSignal(OwnedSignal&& other) noexcept;
  OwnedSignal& operator=(OwnedSignal&&) = delete;
  // Leaves SIG_IGN, never the default action: a tick may still be under way, and the default would end the process.
  ~OwnedSignal();

  [[nodiscard]] int number() const { return number_; }
  // False if somebody has installed another handler since.
  [[nodiscard]] bool still_ours() const;

 private:
  OwnedSignal(int number, SignalHandler handler) : number_(number), handler_(handler) {}
  int number_;
  SignalHandler handler_;
};

}  // namespace tarsier::linux
