#include "archive/unpacked_recording.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "archive/unpack.h"

namespace tarsier::archive {
namespace {

// $TMPDIR, or /var/tmp: /tmp often lies in memory.
Result<unique_fd> nameless_file() {
  const char* wanted = std::getenv("TMPDIR");
  const std::string folder = wanted != nullptr && *wanted != '\0' ? wanted : "/var/tmp";
  unique_fd file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file) return file;
  std::string name = folder + "/tarsier-XXXXXX";
  file.reset(::mkostemp(name.data(), O_CLOEXEC));
  if (!file) {
    return errno_error("can't unpack into " + folder + " (choose another folder by TMPDIR=FOLDER)", errno);
  }
  ::unlink(name.c_str());
  return file;
}

Error of_file(const Error& error, const std::string& path) {
  const bool about_jvms = error.code == Errc::kNotFound || error.code == Errc::kNotPermitted;
  return Error{about_jvms ? Errc::kFailed : error.code,
               error.what.find(path) == std::string::npos ? path + ": " + error.what : error.what};
}

std::string fd_path(int fd) {
  return "/proc/self/fd/" + std::to_string(fd);
}

}  // namespace

Result<UnpackedRecording> UnpackedRecording::open(const std::string& path) {
  auto given = recording::MappedFile::open(path);
  if (!given) return of_file(std::move(given).error(), path);
  if (!is_archive(given->bytes())) return UnpackedRecording(path, std::move(*given));

  auto file = nameless_file();
  if (!file) return of_file(std::move(file).error(), path);
  auto unpacked = unpack(given->bytes(), file->get());
  if (!unpacked) return of_file(std::move(unpacked).error(), path);
  auto mapped = recording::MappedFile::open(fd_path(file->get()));
  if (!mapped) return of_file(std::move(mapped).error(), path);
  UnpackedRecording recording(path, std::move(*mapped));
  recording.unpacked_ = std::move(*file);
  recording.problems_ = std::move(unpacked->problems);
  return recording;
}

std::string UnpackedRecording::path() const {
  return unpacked_ ? fd_path(unpacked_.get()) : given_;
}

}  // namespace tarsier::archive
