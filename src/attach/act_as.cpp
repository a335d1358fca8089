#include "attach/act_as.h"

#include <grp.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>

#include "attach/process.h"

namespace tarsier::attach {

Result<ActAs> ActAs::user(uid_t uid, gid_t gid) {
  ActAs guard;
  guard.uid_ = ::geteuid();
  guard.gid_ = ::getegid();
  if (guard.uid_ == uid && guard.gid_ == gid) return guard;

  const auto refused = [uid](int err) {
    return errno_error("can't act as user " + user_name(uid) + ", who owns the JVM", err, Errc::kNotPermitted);
  };
  const int count = ::getgroups(0, nullptr);
  if (count < 0) return refused(errno);
  guard.groups_.resize(static_cast<size_t>(count));
  if (::getgroups(count, guard.groups_.data()) < 0) return refused(errno);

  // Groups first, the user last: after that we may change nothing any more but go back.
  if (guard.uid_ == 0 && ::setgroups(1, &gid) != 0) return refused(errno);
  guard.changed_ = true;  // from here on the destructor has something to undo
  if (::setegid(gid) != 0 || ::seteuid(uid) != 0) return refused(errno);
  return guard;
}

ActAs::ActAs(ActAs&& other) noexcept
    : changed_(std::exchange(other.changed_, false)),
      uid_(other.uid_),
      gid_(other.gid_),
      groups_(std::move(other.groups_)) {}

ActAs::~ActAs() {
  if (!changed_) return;
  const bool back =
      ::seteuid(uid_) == 0 && ::setegid(gid_) == 0 && (uid_ != 0 || ::setgroups(groups_.size(), groups_.data()) == 0);
  if (!back) std::abort();
}

}  // namespace tarsier::attach
