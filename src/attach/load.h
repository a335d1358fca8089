// Asks a JVM to load our library, by a request of its attach mechanism (request.h): load PATH true OPTIONS.
//
//   reply    completion code\n text               8: the agent's return code alone in a line
//                                                 9 to 20: "return code: N"; a library that can't be loaded: code -1
//                                                 21 and later: that too has code 0, and a text without a return code
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "attach/jvm.h"
#include "attach/request.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace tarsier::attach {

// The agent's Agent_OnAttach returned 0, or an error that says who refused and why.
Status parse_load_reply(std::string_view reply);

// A request that the JVM is working on. Agent_OnAttach may need us meanwhile, so nobody waits here: poll fd().
class PendingLoad {
 public:
  explicit PendingLoad(unique_fd socket) : socket_(std::move(socket)) {}
  [[nodiscard]] int fd() const { return socket_.get(); }
  // Takes in what has arrived without blocking; the outcome once the JVM has hung up.
  std::optional<Status> advance();

 private:
  unique_fd socket_;
  std::string reply_;
};

struct LoadRequest {
  std::string library;  // absolute, as the JVM sees it
  std::string options;
  Patience patience = {};
};

Result<PendingLoad> request_load(const Jvm& jvm, const LoadRequest& request);

}  // namespace tarsier::attach
