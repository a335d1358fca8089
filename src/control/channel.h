// A connected Unix socket that carries messages and, with some of them, descriptors.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "base/units.h"
#include "control/messages.h"

namespace tarsier::control {

struct Received {
  Message message;
  std::vector<unique_fd> descriptors;
};

class Channel {
 public:
  explicit Channel(unique_fd socket) : socket_(std::move(socket)) {}
  // With one message.
  static constexpr size_t kMostDescriptors = 8;

  [[nodiscard]] int fd() const { return socket_.get(); }

  // Never raises SIGPIPE. `timeout` bounds the whole call.
  Status send(const Message& message, Nanos timeout, std::span<const int> descriptors = {});
  // Nothing within `timeout`: an empty optional. The peer has hung up: Errc::kNotFound.
  Result<std::optional<Received>> receive(Nanos timeout);

 private:
  unique_fd socket_;
  std::string pending_;
  uint64_t consumed_ = 0;  // bytes of the stream before pending_
  std::vector<unique_fd> pending_descriptors_;
  uint64_t descriptors_within_ = 0;  // a position in the stream inside the message that they came with
};

struct PeerCredentials {
  int64_t pid = 0;  // as seen from our pid namespace; 0 if it can't be seen from there
  uint32_t uid = 0;
};
Result<PeerCredentials> peer_credentials(int socket);

// Paths longer than sun_path are refused with a clear word.
Result<unique_fd> listen_at(const std::string& path);  // 0600
Result<unique_fd> accept_from(int listener, Nanos timeout);
Result<unique_fd> connect_to(const std::string& path, Nanos timeout);

}  // namespace tarsier::control
