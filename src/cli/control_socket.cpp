#include "cli/control_socket.h"

#include <poll.h>

#include <array>

#include "attach/act_as.h"
#include "base/clock.h"

namespace tarsier::cli {
namespace {

constexpr Nanos kLoadTimeout = seconds(60);  // a big JVM may be in a long pause when asked
constexpr Nanos kCallTimeout = seconds(10);  // once the agent is loaded

Error interrupted() {
  return Error{Errc::kFailed, "interrupted before the recording had started; nothing was written"};
}

}  // namespace

Result<ControlSocket> ControlSocket::open(const Caller& caller) {
  auto directory = attach::PrivateDirectory::create(caller.jvm);
  if (!directory) return std::move(directory).error();
  // Made as the JVM's user: else the JVM could not connect to a socket with mode 0600.
  const auto as_user = attach::ActAs::user(caller.jvm.uid, caller.jvm.gid);
  if (!as_user) return as_user.error();
  auto listener = control::listen_at(directory->path_for_us(kName));
  if (!listener) return std::move(listener).error();
  return ControlSocket(caller, std::move(*directory), std::move(*listener));
}

// Nothing if the caller is not the one we wait for: it is sent away, and the wait goes on.
Result<std::optional<control::Channel>> ControlSocket::accept_caller() {
  auto socket = control::accept_from(listener_.get(), Nanos(0));
  if (!socket) return std::move(socket).error();
  const auto peer = control::peer_credentials(socket->get());
  if (!peer) return peer.error();
  const bool right_process = caller_.any_process || peer->pid == 0 || peer->pid == caller_.jvm.pid;
  if (!right_process || peer->uid != caller_.jvm.uid) return std::optional<control::Channel>();
  return std::optional(control::Channel(std::move(*socket)));
}

Result<control::Channel> ControlSocket::wait_for_attached(attach::PendingLoad& load, Signals& signals) {
  bool loaded = false;
  Nanos deadline = monotonic_now() + kLoadTimeout;
  while (monotonic_now() < deadline) {
    std::array<pollfd, 3> events = {{{listener_.get(), POLLIN, 0}, {signals.fd(), POLLIN, 0}, {load.fd(), POLLIN, 0}}};
    ::poll(events.data(), loaded ? 2 : 3, 100);
    // The call first: an agent that refuses says over it why, and only then lets the loading fail.
    if (events[0].revents != 0) {
      auto channel = accept_caller();
      if (!channel) return std::move(channel).error();
      if (*channel) return std::move(**channel);
    }
    if (events[1].revents != 0) {
      for (auto info = signals.next(); info; info = signals.next()) {
        if (info->ssi_signo != SIGCHLD) return interrupted();
      }
    }
    if (!loaded && events[2].revents != 0) {
      if (auto outcome = load.advance()) {
        if (!*outcome) return std::move(*outcome).error();
        loaded = true;
        deadline = monotonic_now() + kCallTimeout;
      }
    }
  }
  return Error{Errc::kNotPermitted, loaded ? "the agent was loaded but did not call back within 10 s"
                                           : "the JVM did not load the agent within 60 s: it may be hanging"};
}

Result<control::Channel> ControlSocket::wait_for_child(Child& child, Signals& signals) {
  for (;;) {
    std::array<pollfd, 2> events = {{{listener_.get(), POLLIN, 0}, {signals.fd(), POLLIN, 0}}};
    ::poll(events.data(), events.size(), -1);
    if (events[0].revents != 0) {
      auto channel = accept_caller();
      if (!channel) return std::move(channel).error();
      if (*channel) return std::move(**channel);
    }
    for (auto info = signals.next(); info; info = signals.next()) {
      const int number = static_cast<int>(info->ssi_signo);
      if (number != SIGCHLD && !from_terminal(*info)) child.forward(number);
    }
    if (const auto code = child.poll_exit()) {
      return Error{Errc::kNotFound, "the program ended with code " + std::to_string(*code) +
                                        " before any JVM of it had called: nothing was recorded"};
    }
  }
}

}  // namespace tarsier::cli
