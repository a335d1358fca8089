#include "attach/private_directory.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "attach/act_as.h"
#include "attach/target_root.h"

namespace tarsier::attach {

Result<PrivateDirectory> PrivateDirectory::create(const Jvm& jvm) {
  uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) return errno_error("getrandom", errno);
  char suffix[17];
  std::snprintf(suffix, sizeof suffix, "%016llx", static_cast<unsigned long long>(number));
  return create_named(jvm, std::string("tarsier-") + suffix);
}

Result<PrivateDirectory> PrivateDirectory::create_named(const Jvm& jvm, const std::string& name) {
  const auto root = TargetRoot::open(jvm.pid, jvm.namespace_pid);
  if (!root) return root.error();
  auto tmp = root->open_file("/tmp", O_PATH | O_DIRECTORY);
  if (!tmp) return std::move(tmp).error().in("the JVM's /tmp");
  const auto as_user = ActAs::user(jvm.uid, jvm.gid);
  if (!as_user) return as_user.error();

  const std::string shown = "/tmp/" + name + " for JVM " + std::to_string(jvm.pid);
  if (::mkdirat(tmp->get(), name.c_str(), 0700) != 0 && errno != EEXIST) {
    return errno_error("can't make " + shown, errno, Errc::kNotPermitted);
  }
  unique_fd directory(::openat(tmp->get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info {};
  if (!directory || ::fstat(directory.get(), &info) != 0) return errno_error(shown, errno, Errc::kNotPermitted);
  if (info.st_uid != jvm.uid || (info.st_mode & 077) != 0) {
    return Error{Errc::kNotPermitted, shown + " belongs to somebody else: remove it"};
  }
  return PrivateDirectory(jvm, std::move(*tmp), std::move(directory), name);
}

std::string PrivateDirectory::path_for_us(const std::string& file) {
  files_.push_back(file);
  return path_in(directory_.get(), file);
}

PrivateDirectory& PrivateDirectory::operator=(PrivateDirectory&& other) noexcept {
  if (this == &other) return *this;
  remove();
  uid_ = other.uid_;
  gid_ = other.gid_;
  tmp_ = std::move(other.tmp_);
  directory_ = std::move(other.directory_);
  name_ = std::move(other.name_);
  files_ = std::move(other.files_);
  return *this;
}

PrivateDirectory::~PrivateDirectory() {
  remove();
}

void PrivateDirectory::remove() {
  if (!directory_) return;
  const auto as_user = ActAs::user(uid_, gid_);
  if (!as_user) return;
  for (const std::string& file : files_) ::unlinkat(directory_.get(), file.c_str(), 0);
  ::unlinkat(tmp_.get(), name_.c_str(), AT_REMOVEDIR);
  directory_.reset();
}

}  // namespace tarsier::attach
