#include "attach/target_root.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace tarsier::attach {
namespace {

bool same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// The same inode as root is not enough: two mount namespaces may share the root and differ in /tmp.
bool same_mount_namespace(pid_t pid) {
  struct stat ours {
  }, theirs{};
  return ::stat("/proc/self/ns/mnt", &ours) == 0 &&
         ::stat(("/proc/" + std::to_string(pid) + "/ns/mnt").c_str(), &theirs) == 0 && same_file(ours, theirs);
}

}  // namespace

Result<TargetRoot> TargetRoot::open(pid_t pid, pid_t namespace_pid) {
  constexpr int kFlags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  const std::string path = "/proc/" + std::to_string(pid) + "/root";
  unique_fd theirs(::open(path.c_str(), kFlags));
  if (!theirs) {
    const int err = errno;
    if (pid != namespace_pid || err == ENOENT) {
      return errno_error(path, err, err == ENOENT ? Errc::kNotFound : Errc::kNotPermitted);
    }
    return TargetRoot(unique_fd(::open("/", kFlags)), true);
  }
  struct stat ours_info {
  }, theirs_info{};
  const bool same_root = ::stat("/", &ours_info) == 0 && ::fstat(theirs.get(), &theirs_info) == 0 &&
                         same_file(ours_info, theirs_info) && same_mount_namespace(pid);
  return TargetRoot(std::move(theirs), same_root);
}

Result<unique_fd> TargetRoot::open_file(const std::string& path, int flags) const {
  const char* relative = path.c_str() + std::min(path.find_first_not_of('/'), path.size());
  open_how how{};
  how.flags = static_cast<uint64_t>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  unique_fd fd(static_cast<int>(::syscall(SYS_openat2, root_.get(), relative, &how, sizeof how)));
  // Before Linux 5.6, and under seccomp filters older than it: take a path without links at its end, or none.
  if (!fd && (errno == ENOSYS || errno == EPERM)) {
    fd.reset(::openat(root_.get(), relative, flags | O_CLOEXEC | O_NOFOLLOW));
  }
  if (!fd) {
    const int err = errno;
    return errno_error(path, err, err == ENOENT ? Errc::kNotFound : Errc::kNotPermitted);
  }
  return fd;
}

std::string path_in(int directory, const std::string& name) {
  return "/proc/self/fd/" + std::to_string(directory) + "/" + name;
}

}  // namespace tarsier::attach
