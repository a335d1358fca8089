// The command's end of a session before there is one: a socket that only the target can reach, and the wait for the
// agent to call.
#pragma once

#include <optional>
#include <string>

#include "attach/jvm.h"
#include "attach/load.h"
#include "attach/private_directory.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "cli/child.h"
#include "cli/signals.h"
#include "control/channel.h"

namespace tarsier::cli {

// Who may call: the JVM that was attached to (then `pid` is set), or any of that user's.
struct Caller {
  attach::Jvm jvm;
  bool any_process = false;
};

class ControlSocket {
 public:
  static Result<ControlSocket> open(const Caller& caller);
  [[nodiscard]] std::string agent_options() const { return "connect=" + directory_.path_for_target(kName); }

  // Until the JVM being attached to has called; `load` is the request it is working on.
  Result<control::Channel> wait_for_attached(attach::PendingLoad& load, Signals& signals);
  // Until a JVM of the child has called. Signals go to the child meanwhile.
  Result<control::Channel> wait_for_child(Child& child, Signals& signals);

 private:
  static constexpr const char* kName = "control";
  ControlSocket(Caller caller, attach::PrivateDirectory directory, unique_fd listener)
      : caller_(std::move(caller)), directory_(std::move(directory)), listener_(std::move(listener)) {}
  Result<std::optional<control::Channel>> accept_caller();
  Caller caller_;
  attach::PrivateDirectory directory_;
  unique_fd listener_;
};

}  // namespace tarsier::cli
