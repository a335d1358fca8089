// The signals that end a recording, as a descriptor to poll: nothing happens at odd moments.
#pragma once

#include <signal.h>
#include <sys/signalfd.h>

#include <optional>

#include "base/result.h"
#include "base/unique_fd.h"

namespace tarsier::cli {

class Signals {
 public:
  // SIGINT, SIGTERM, SIGHUP (unless ignored, as under nohup) and SIGCHLD are held back and read from here until this
  // object goes. SIGPIPE is ignored for good: writes fail instead.
  static Result<Signals> take();
  Signals(Signals&& other) noexcept = default;
  Signals& operator=(Signals&&) = delete;
  ~Signals();

  [[nodiscard]] int fd() const { return descriptor_.get(); }
  [[nodiscard]] std::optional<signalfd_siginfo> next();
  // For a child: what the mask was before.
  [[nodiscard]] const sigset_t& previous_mask() const { return previous_; }

 private:
  Signals() = default;
  unique_fd descriptor_;
  sigset_t previous_{};
};

// True for a signal that came from the terminal: a child of ours, in the same foreground group, has got it already.
bool from_terminal(const signalfd_siginfo& info);

}  // namespace tarsier::cli
