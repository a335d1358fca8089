#include "cli/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/clock.h"

namespace tarsier::cli {

OutputFile::OutputFile(std::string path, unique_fd folder, std::string name)
    : path_(std::move(path)), folder_(std::move(folder)), name_(std::move(name)) {
  char hidden[64];
  std::snprintf(hidden, sizeof hidden, ".tarsier-%ld-%llx", static_cast<long>(::getpid()),
                static_cast<unsigned long long>(monotonic_now().count));
  hidden_name_ = hidden;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      folder_(std::move(other.folder_)),
      name_(std::move(other.name_)),
      hidden_name_(std::move(other.hidden_name_)),
      file_(std::move(other.file_)),
      hidden_(std::exchange(other.hidden_, false)),
      nameless_(other.nameless_) {}

Result<OutputFile> OutputFile::create(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder_path = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (name.empty() || name == "." || name == "..")
    return Error{Errc::kUsage, "'" + path + "' is a folder: name a file"};

  unique_fd folder(::open(folder_path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return errno_error("can't write '" + path + "': folder " + folder_path, errno);
  struct stat info {};
  if (::fstatat(folder.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(info.st_mode)) {
    const char* what = S_ISLNK(info.st_mode)   ? "is a symbolic link, which is not followed: name the file itself"
                       : S_ISDIR(info.st_mode) ? "is a folder: name a file"
                                               : "is no regular file: name one";
    return Error{Errc::kUsage, "'" + path + "' " + what};
  }

  OutputFile output(path, std::move(folder), name);
  if (auto opened = output.open_file(); !opened) return std::move(opened).error();
  return output;
}

Result<OutputFile> OutputFile::nameless() {
  const char* folder = std::getenv("TMPDIR");
  auto output = create(std::string(folder != nullptr && *folder != '\0' ? folder : "/var/tmp") + "/tarsier.jfr");
  if (!output) return output;
  output->nameless_ = true;
  if (output->hidden_) ::unlinkat(output->folder_.get(), output->hidden_name_.c_str(), 0);
  output->hidden_ = false;
  return output;
}

Status OutputFile::open_file() {
  file_.reset(::openat(folder_.get(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file_) return {};
  // Some file systems, and old kernels in odd words, can't do that.
  if (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT || errno == EINVAL) {
    file_.reset(
        ::openat(folder_.get(), hidden_name_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600));
    hidden_ = static_cast<bool>(file_);
  }
  if (!file_) return errno_error("can't create '" + path_ + "' (choose another place by -o FILE)", errno);
  return {};
}

OutputFile::~OutputFile() {
  if (hidden_) ::unlinkat(folder_.get(), hidden_name_.c_str(), 0);
}

bool OutputFile::is_in_place() const {
  struct stat named {
  }, ours{};
  return ::lstat(path_.c_str(), &named) == 0 && ::fstat(file_.get(), &ours) == 0 && named.st_dev == ours.st_dev &&
         named.st_ino == ours.st_ino;
}

Status OutputFile::publish() {
  if (nameless_) return {};
  if (!hidden_) {
    const std::string nameless = "/proc/self/fd/" + std::to_string(file_.get());
    if (::linkat(AT_FDCWD, nameless.c_str(), folder_.get(), hidden_name_.c_str(), AT_SYMLINK_FOLLOW) != 0) {
      return errno_error("can't create '" + path_ + "'", errno);
    }
    hidden_ = true;
  }
  if (::renameat(folder_.get(), hidden_name_.c_str(), folder_.get(), name_.c_str()) != 0) {
    return errno_error("can't create '" + path_ + "'", errno);
  }
  hidden_ = false;
  return {};
}

}  // namespace tarsier::cli
