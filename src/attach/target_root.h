// The file tree as the target sees it. A container's tree is hostile to a root user outside: a link in it must not
// lead out of it.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace tarsier::attach {

class TargetRoot {
 public:
  // Through /proc/PID/root. Where that may not be looked at, our own root, if the target shares our pid namespace
  // (`namespace_pid` is `pid`): nothing else can be reached then.
  static Result<TargetRoot> open(pid_t pid, pid_t namespace_pid);

  // `path` is absolute, as the target would write it; links are followed within the target's root only.
  [[nodiscard]] Result<unique_fd> open_file(const std::string& path, int flags) const;
  // True if the target's root is ours: the same paths mean the same files.
  [[nodiscard]] bool is_ours() const { return is_ours_; }

 private:
  TargetRoot(unique_fd root, bool is_ours) : root_(std::move(root)), is_ours_(is_ours) {}
  unique_fd root_;
  bool is_ours_;
};

// A path that names `name` in the directory open as `directory`, for calls that know no descriptors (bind, connect).
std::string path_in(int directory, const std::string& name);

}  // namespace tarsier::attach
