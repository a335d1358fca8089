#include "attach/thread_dump.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/clock.h"

namespace tarsier::attach {
namespace {

// A hundred thousand threads with fifty frames each.
constexpr size_t kMaxDump = size_t{512} << 20;

Error no_answer(const Jvm& jvm, const std::string& why) {
  return Error{Errc::kNotPermitted, "JVM " + std::to_string(jvm.pid) + " made no thread dump: " + why};
}

Result<std::string> receive_all(int socket, const Jvm& jvm, const Patience& patience, Nanos limit) {
  std::string reply;
  std::array<char, 64 << 10> buffer;
  const Nanos end = monotonic_now() + limit;
  for (;;) {
    const Nanos left = end - monotonic_now();
    if (left <= Nanos(0)) {
      return no_answer(jvm, "no answer within " + std::to_string(limit / seconds(1)) +
                                " s: one of its threads may keep it from standing still");
    }
    pollfd events[] = {{socket, POLLIN, 0}, {patience.cancel_fd, POLLIN, 0}};
    ::poll(events, 2, static_cast<int>(left / millis(1)) + 1);
    if (events[1].revents != 0) return Error{Errc::kFailed, "interrupted"};
    const ssize_t n = ::recv(socket, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (n == 0) return reply;
    if (n < 0 && errno != EINTR && errno != EAGAIN) return no_answer(jvm, errno_text(errno));
    if (n > 0) reply.append(buffer.data(), static_cast<size_t>(n));
    if (reply.size() > kMaxDump) return no_answer(jvm, "it is longer than 512 MB");
  }
}

}  // namespace

Result<std::string> take_thread_dump(const Jvm& jvm, const Patience& patience, Nanos limit) {
  // -l: with the locks of java.util.concurrent that each thread holds.
  const std::array<std::string, 4> words = {"threaddump", "-l", "", ""};
  const auto socket = send_request(jvm, words, patience);
  if (!socket) return socket.error();
  auto bytes = receive_all(socket->get(), jvm, patience, limit);
  if (!bytes) return bytes;
  const auto reply = parse_reply(*bytes);
  if (!reply) return reply.error();
  if (reply->code != 0) return no_answer(jvm, "code " + std::to_string(reply->code));
  bytes->erase(0, static_cast<size_t>(reply->text.data() - bytes->data()));
  return bytes;
}

}  // namespace tarsier::attach
