// Root takes on the target's user for a moment: a JVM answers only its own user (8: not even root), and files made in
// a directory of another user's are made with no more rights than that user has.
#pragma once

#include <sys/types.h>

#include <vector>

#include "base/result.h"

namespace tarsier::attach {

class ActAs {
 public:
  // Does nothing if we are that user already. kNotPermitted if we may not become it.
  static Result<ActAs> user(uid_t uid, gid_t gid);
  ActAs(ActAs&& other) noexcept;
  ActAs& operator=(ActAs&&) = delete;
  ~ActAs();  // back to who we were; aborts if that fails: going on as somebody else would be worse

 private:
  ActAs() = default;
  bool changed_ = false;
  uid_t uid_ = 0;
  gid_t gid_ = 0;
  std::vector<gid_t> groups_;
};

}  // namespace tarsier::attach
