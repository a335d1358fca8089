// A directory in the target's /tmp that only the target's user (and root) can look into: for the control socket, and
// for a copy of the agent where the target can't see ours. Removed with what is in it.
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
  // With that name; one that is there already is taken over if it is private and that user's own.
  static Result<PrivateDirectory> create_named(const Jvm& jvm, const std::string& name);
  PrivateDirectory(PrivateDirectory&& other) noexcept = default;
  PrivateDirectory& operator=(PrivateDirectory&& other) noexcept;
  ~PrivateDirectory();

  [[nodiscard]] int fd() const { return directory_.get(); }
  [[nodiscard]] std::string path_for_target(const std::string& file) const { return "/tmp/" + name_ + "/" + file; }
  // Works whatever mount namespace the target lives in. The file is removed with the directory.
  std::string path_for_us(const std::string& file);

 private:
  PrivateDirectory(const Jvm& jvm, unique_fd tmp, unique_fd directory, std::string name)
      : uid_(jvm.uid), gid_(jvm.gid), tmp_(std::move(tmp)), directory_(std::move(directory)), name_(std::move(name)) {}
  void remove();
  uid_t uid_;
  gid_t gid_;
  unique_fd tmp_, directory_;
  std::string name_;
  std::vector<std::string> files_;
};

}  // namespace tarsier::attach
