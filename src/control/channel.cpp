#include "control/channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/clock.h"

namespace tarsier::control {
namespace {

// Waits for `events`; false when the deadline has passed.
Result<bool> wait_for(int fd, short events, Nanos deadline) {
  while (true) {
    const Nanos left = deadline - monotonic_now();
    const int64_t ms = std::clamp<int64_t>((left.count + 999'999) / 1'000'000, 0, 3'600'000);
    pollfd entry{fd, events, 0};
    const int n = ::poll(&entry, 1, static_cast<int>(ms));
    if (n > 0) return true;
    if (n == 0) return false;
    if (errno != EINTR) return errno_error("waiting on the control socket", errno);
  }
}

Error hung_up() {
  return Error{Errc::kNotFound, "the other side has hung up"};
}

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return Error{Errc::kUsage, "socket path '" + path + "' is longer than the " +
                                   std::to_string(sizeof(address.sun_path) - 1) + " bytes that Linux allows"};
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

Result<unique_fd> new_socket(int flags) {
  unique_fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
  if (!fd) return errno_error("creating a control socket", errno);
  return fd;
}

}  // namespace

Status Channel::send(const Message& message, Nanos timeout, std::span<const int> descriptors) {
  const Nanos deadline = monotonic_now() + timeout;
  const std::string body = encode(message);
  if (body.size() > kMaxMessage) return Error{Errc::kFailed, "control message is too long"};
  std::string bytes(4, '\0');
  for (int i = 0; i < 4; ++i) bytes[i] = static_cast<char>(body.size() >> (8 * i));
  bytes += body;

  if (descriptors.size() > kMostDescriptors) return Error{Errc::kFailed, "too many descriptors for one message"};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMostDescriptors)] = {};
  size_t sent = 0;
  while (sent < bytes.size()) {
    iovec part{bytes.data() + sent, bytes.size() - sent};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    if (!descriptors.empty() && sent == 0) {  // they travel with the first byte
      header.msg_control = control;
      header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
      cmsghdr* rights = CMSG_FIRSTHDR(&header);
      rights->cmsg_level = SOL_SOCKET;
      rights->cmsg_type = SCM_RIGHTS;
      rights->cmsg_len = CMSG_LEN(descriptors.size_bytes());
      std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size_bytes());
    }
    const ssize_t n = ::sendmsg(socket_.get(), &header, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) {
      sent += static_cast<size_t>(n);
      continue;
    }
    if (errno == EPIPE || errno == ECONNRESET) return hung_up();
    if (errno != EAGAIN && errno != EINTR) return errno_error("sending on the control socket", errno);
    auto ready = wait_for(socket_.get(), POLLOUT, deadline);
    if (!ready) return std::move(ready).error();
    if (!*ready) return Error{Errc::kFailed, "the other side of the control socket does not read"};
  }
  return {};
}

Result<std::optional<Received>> Channel::receive(Nanos timeout) {
  const Nanos deadline = monotonic_now() + timeout;
  while (true) {
    if (pending_.size() >= 4) {
      uint32_t length = 0;
      for (int i = 3; i >= 0; --i) length = (length << 8) | static_cast<uint8_t>(pending_[i]);
      if (length > kMaxMessage) return Error{Errc::kCorrupt, "control message is too long"};
      if (pending_.size() >= 4 + length) {
        Result<Message> message = decode(std::string_view(pending_).substr(4, length));
        pending_.erase(0, 4 + length);
        consumed_ += 4 + length;
        if (!message) return std::move(message).error();
        Received received{std::move(*message), {}};
        if (descriptors_within_ <= consumed_) received.descriptors = std::exchange(pending_descriptors_, {});
        return std::optional<Received>(std::move(received));
      }
    }
    char buffer[4096];
    iovec part{buffer, sizeof(buffer)};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMostDescriptors)] = {};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof(control);
    const ssize_t n = ::recvmsg(socket_.get(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n == 0 || (n < 0 && errno == ECONNRESET)) return hung_up();
    if (n < 0) {
      if (errno != EAGAIN && errno != EINTR) return errno_error("receiving on the control socket", errno);
      auto ready = wait_for(socket_.get(), POLLIN, deadline);
      if (!ready) return std::move(ready).error();
      if (!*ready) return std::optional<Received>();
      continue;
    }
    // A read may begin with the end of one message and go on with the next; but it ends with the piece that carries
    // descriptors, so the last byte read belongs to their message.
    for (cmsghdr* c = CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) {
      if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
      const size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      pending_descriptors_.clear();  // one lot per message: earlier, unasked ones are closed
      descriptors_within_ = consumed_ + pending_.size() + static_cast<uint64_t>(n);
      for (size_t i = 0; i < count; ++i) {
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
        pending_descriptors_.emplace_back(fd);
      }
    }
    pending_.append(buffer, static_cast<size_t>(n));
  }
}

Result<PeerCredentials> peer_credentials(int socket) {
  ucred credentials{};
  socklen_t size = sizeof(credentials);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) {
    return errno_error("asking who is at the other side of the control socket", errno);
  }
  return PeerCredentials{credentials.pid, credentials.uid};
}

Result<unique_fd> listen_at(const std::string& path) {
  auto address = address_of(path);
  if (!address) return std::move(address).error();
  auto fd = new_socket(0);
  if (!fd) return fd;
  // fchmod on the unbound socket makes bind create it with that mode: no moment in which it is open to others.
  if (::fchmod(fd->get(), 0600) != 0 ||
      ::bind(fd->get(), reinterpret_cast<const sockaddr*>(&*address), sizeof(*address)) != 0 ||
      ::listen(fd->get(), 4) != 0) {
    return errno_error("listening at '" + path + "'", errno);
  }
  return fd;
}

Result<unique_fd> accept_from(int listener, Nanos timeout) {
  auto ready = wait_for(listener, POLLIN, monotonic_now() + timeout);
  if (!ready) return std::move(ready).error();
  if (!*ready) return Error{Errc::kNotPermitted, "nobody connected to the control socket in time"};
  unique_fd fd(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
  if (!fd) return errno_error("accepting a connection on the control socket", errno);
  return fd;
}

Result<unique_fd> connect_to(const std::string& path, Nanos timeout) {
  auto address = address_of(path);
  if (!address) return std::move(address).error();
  auto fd = new_socket(SOCK_NONBLOCK);
  if (!fd) return fd;
  const Nanos deadline = monotonic_now() + timeout;
  // A Unix socket connects at once or says EAGAIN while the listener's queue is full.
  while (::connect(fd->get(), reinterpret_cast<const sockaddr*>(&*address), sizeof(*address)) != 0) {
    if (errno == EINTR) continue;
    if (errno != EAGAIN || monotonic_now() > deadline) return errno_error("connecting to '" + path + "'", errno);
    ::usleep(1000);
  }
  return fd;
}

}  // namespace tarsier::control
