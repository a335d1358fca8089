// Any bytes at all over the control socket, a descriptor with them or not; and as the JSON of one message, which must
// mean the same when it is sent on.
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "control/channel.h"

namespace {

using namespace tarsier;
using namespace tarsier::control;

void as_json(std::string_view text) {
  const auto message = decode(text);
  if (!message) return;
  const std::string sent = encode(*message);
  const auto again = decode(sent);
  if (!again || encode(*again) != sent) std::abort();
}

void as_stream(const uint8_t* data, size_t size, bool with_descriptor) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) return;
  unique_fd writer(ends[0]);
  Channel channel{unique_fd(ends[1])};
  iovec part{const_cast<uint8_t*>(data), size};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (with_descriptor) {
    header.msg_control = control;
    header.msg_controllen = sizeof(control);
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(rights), &ends[0], sizeof(int));
  }
  (void)::sendmsg(writer.get(), &header, MSG_NOSIGNAL);
  ::shutdown(writer.get(), SHUT_WR);  // a descriptor under way would keep it open
  writer.reset();
  for (;;) {
    const auto received = channel.receive(Nanos(0));
    if (!received || !received->has_value()) return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  as_json({reinterpret_cast<const char*>(data), size});
  as_stream(data + 1, size - 1, (data[0] & 1) != 0);
  return 0;
}
