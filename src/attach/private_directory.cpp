#include "attach/private_directory.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "attach/act_as.h"
#include "attach/process.h"
#include "attach/target_root.h"

namespace tarsier::attach {

namespace {

Result<std::string> unforeseeable_name() {
  uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) return errno_error("getrandom", errno);
  char name[32];
  std::snprintf(name, sizeof name, "tarsier-%016llx", static_cast<unsigned long long>(number));
  return std::string(name);
}

// Owned by somebody outside of our user namespace: what shows as this number is no user of ours.
bool owner_is_outside(uid_t owner) {
  constexpr uid_t kOverflowUser = 65534;
  return owner == kOverflowUser && !user_in_namespace(::getpid(), kOverflowUser);
}

// Could somebody other than the JVM's user and those who rule over it anyway exchange a directory that lies there?
bool others_can_exchange(const Jvm& jvm, const struct stat& parent) {
  const auto namespace_root = user_in_namespace(jvm.pid, 0);
  const bool trusted = parent.st_uid == 0 || parent.st_uid == jvm.uid || parent.st_uid == namespace_root ||
                       owner_is_outside(parent.st_uid);
  const bool writable = (parent.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  return !trusted || (writable && (parent.st_mode & S_ISVTX) == 0);
}

// One of the target's directories, if it is fit to hold a private one.
Result<unique_fd> open_place(const Jvm& jvm, const std::string& place, bool to_execute) {
  const auto root = TargetRoot::open(jvm.pid, jvm.namespace_pid);
  if (!root) return root.error();
  auto parent = root->open_file(place, O_PATH | O_DIRECTORY);
  if (!parent) return std::move(parent).error();
  struct stat info {};
  if (::fstat(parent->get(), &info) != 0) return errno_error(place, errno, Errc::kNotPermitted);
  if (others_can_exchange(jvm, info)) {
    return Error{Errc::kNotPermitted, place + " lets others exchange what lies in it (chmod 1777 " + place +
                                          ", and root as its owner, mend that)"};
  }
  struct statvfs system {};
  if (to_execute && ::fstatvfs(parent->get(), &system) == 0 && (system.f_flag & ST_NOEXEC) != 0) {
    return Error{Errc::kNotPermitted, place + " is mounted noexec"};
  }
  return parent;
}

constexpr const char* kTmp = "/tmp";
constexpr const char* kPlacesToExecute[] = {kTmp, "/var/tmp", "/dev/shm"};

}  // namespace

Result<PrivateDirectory> PrivateDirectory::create(const Jvm& jvm) {
  const auto name = unforeseeable_name();
  if (!name) return name.error();
  auto parent = open_place(jvm, kTmp, false);
  if (!parent) return std::move(parent).error().in("the file system of JVM " + std::to_string(jvm.pid));
  return create_in(jvm, kTmp, std::move(*parent), *name);
}

Result<PrivateDirectory> PrivateDirectory::create_for_library(const Jvm& jvm, const std::string& name) {
  std::string obstacles;
  for (const char* place : kPlacesToExecute) {
    for (int attempt = 0; attempt < 2; ++attempt) {
      const auto other_name = unforeseeable_name();
      auto parent = open_place(jvm, place, true);
      auto directory = !parent       ? Result<PrivateDirectory>(std::move(parent).error())
                       : !other_name ? Result<PrivateDirectory>(other_name.error())
                                     : create_in(jvm, place, std::move(*parent), attempt == 0 ? name : *other_name);
      if (directory) return directory;
      if (attempt == 0 && directory.error().code == Errc::kBusy) continue;
      obstacles += (obstacles.empty() ? "" : "; ") + directory.error().what;
      break;
    }
  }
  return Error{Errc::kNotPermitted,
               "JVM " + std::to_string(jvm.pid) +
                   " can't see the agent's library, and there is no safe place for a copy of it: " + obstacles};
}

Result<PrivateDirectory> PrivateDirectory::create_in(const Jvm& jvm, const std::string& place, unique_fd parent,
                                                     const std::string& name) {
  const auto as_user = ActAs::user(jvm.uid, jvm.gid);
  if (!as_user) return as_user.error();
  const std::string shown = place + "/" + name;
  if (::mkdirat(parent.get(), name.c_str(), 0700) != 0 && errno != EEXIST) {
    return errno_error("can't make " + shown, errno, Errc::kNotPermitted);
  }
  // No link is followed, and what was opened is what is checked.
  unique_fd directory(::openat(parent.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info {};
  if (!directory || ::fstat(directory.get(), &info) != 0) return errno_error(shown, errno, Errc::kBusy);
  if (info.st_uid != jvm.uid || (info.st_mode & 077) != 0) {
    return Error{Errc::kBusy, shown + " belongs to somebody else"};
  }
  return PrivateDirectory(jvm, place, std::move(parent), std::move(directory), name);
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
  place_ = std::move(other.place_);
  parent_ = std::move(other.parent_);
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
  ::unlinkat(parent_.get(), name_.c_str(), AT_REMOVEDIR);
  directory_.reset();
}

}  // namespace tarsier::attach
