// A directory in the target's /tmp that only the target's user (and root) can look into: for the control socket, and
// for a copy of the agent where the target can't see ours. Removed with what is in it.
//
// The target will open, and execute, what lies there under its path; so nobody else may be able to put something else
// there: neither in the directory (it is that user's, with mode 0700) nor in its place (its parent is writable by that
// user and root only, or sticky and owned by one of them).
#pragma once

#include <string>
#include <vector>

#include "attach/jvm.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace tarsier::attach {

class PrivateDirectory {
 public:
  // With a name that nobody can foresee.
  static Result<PrivateDirectory> create(const Jvm& jvm);
  // For files to be executed: in the first place that allows that. With that name, if it can be had: one that is there
  // already is taken over if it is private and that user's own. If somebody else has taken it, with another name.
  static Result<PrivateDirectory> create_for_library(const Jvm& jvm, const std::string& name);
  PrivateDirectory(PrivateDirectory&& other) noexcept = default;
  PrivateDirectory& operator=(PrivateDirectory&& other) noexcept;
  ~PrivateDirectory();

  [[nodiscard]] int fd() const { return directory_.get(); }
  [[nodiscard]] std::string path_for_target(const std::string& file) const { return place_ + "/" + name_ + "/" + file; }
  // Works whatever mount namespace the target lives in. The file is removed with the directory.
  std::string path_for_us(const std::string& file);

 private:
  PrivateDirectory(const Jvm& jvm, std::string place, unique_fd parent, unique_fd directory, std::string name)
      : uid_(jvm.uid),
        gid_(jvm.gid),
        place_(std::move(place)),
        parent_(std::move(parent)),
        directory_(std::move(directory)),
        name_(std::move(name)) {}
  static Result<PrivateDirectory> create_in(const Jvm& jvm, const std::string& place, unique_fd parent,
                                            const std::string& name);
  void remove();
  uid_t uid_;
  gid_t gid_;
  std::string place_;  // /tmp, as the target sees it
  unique_fd parent_, directory_;
  std::string name_;
  std::vector<std::string> files_;
};

}  // namespace tarsier::attach
