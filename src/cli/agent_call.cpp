#include "cli/agent_call.h"

#include "attach/agent_library.h"
#include "cli/console.h"
#include "cli/control_socket.h"

namespace tarsier::cli {

Result<AgentCall> call_agent(const attach::Jvm& jvm, const std::string& library, Signals& signals) {
  auto delivered = attach::deliver_agent(jvm, library);
  if (!delivered) return std::move(delivered).error();
  auto socket = ControlSocket::open({jvm, false});
  if (!socket) return std::move(socket).error();
  auto load = attach::request_load(
      jvm, {.library = delivered->path, .options = socket->agent_options(), .patience = {.cancel_fd = signals.fd()}});
  if (!load) return std::move(load).error();
  auto channel = socket->wait_for_attached(*load, signals);
  if (!channel) return std::move(channel).error();
  return AgentCall{std::move(*channel), std::move(*load)};
}

// Where it is not for us to say more, the doctor can.
int fail_with(Error error, const attach::Jvm& jvm) {
  if (error.code == Errc::kNotPermitted || error.code == Errc::kUnsupported) {
    error.what += "\n(what works and what does not: tarsier doctor " + std::to_string(jvm.pid) + ")";
  }
  return fail(error);
}

}  // namespace tarsier::cli
