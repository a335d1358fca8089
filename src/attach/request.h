// HotSpot's dynamic attach, from outside: make the JVM listen (a file .attach_pidN and SIGQUIT), connect to its socket
// .java_pidN, and send it a command.
//
//   request  1\0COMMAND\0ARGUMENT\0ARGUMENT\0ARGUMENT\0   version 1, which 24 and later still take beside their own
//   reply    completion code\n text                        then the JVM hangs up
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "attach/jvm.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "base/units.h"

namespace tarsier::attach {

struct Patience {
  Nanos timeout{seconds(10)};  // to make the JVM listen
  int cancel_fd = -1;          // readable: give up
};

// `words` are the command and its three arguments, which the JVM insists on. The reply comes from the socket.
//
// SIGQUIT, which ends a process that does not handle it, is sent only to a process that is a HotSpot JVM with a handler
// for it; a pid that is given to another process in between does not get it either.
Result<unique_fd> send_request(const Jvm& jvm, std::span<const std::string> words, const Patience& patience);

struct Reply {
  int code = 0;  // 0: done
  std::string_view text;
};
// Of all that came from the socket; the text is a part of it. An error if there is no code.
Result<Reply> parse_reply(std::string_view reply);

}  // namespace tarsier::attach
