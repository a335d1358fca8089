#include "cli/recording_output.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "archive/pack.h"
#include "recording/mapped_file.h"

namespace tarsier::cli {
namespace {

constexpr std::string_view kArchive = ".jfr.zst";
constexpr std::string_view kPacked = ".zst";

}  // namespace

Result<RecordingOutput> RecordingOutput::create(const std::string& path) {
  const bool packed = path.ends_with(kArchive) && path.size() > kArchive.size();
  const std::string jfr = packed ? path.substr(0, path.size() - kPacked.size()) : path;
  std::optional<OutputFile> archive;
  if (packed) {
    struct stat info {};
    if (::lstat(jfr.c_str(), &info) == 0) {
      return Error{Errc::kUsage, "'" + path + "' is written as '" + jfr +
                                     "' while it lasts, but there is one already: move it, or choose another name"};
    }
    auto created = OutputFile::create(path);
    if (!created) return std::move(created).error();
    archive.emplace(std::move(*created));
  }
  auto file = OutputFile::create(jfr);
  if (!file) return std::move(file).error();
  return RecordingOutput(std::move(*file), std::move(archive));
}

Result<RecordingOutput> RecordingOutput::nameless() {
  auto file = OutputFile::nameless();
  if (!file) return std::move(file).error();
  return RecordingOutput(std::move(*file), std::nullopt);
}

Status RecordingOutput::finish() {
  if (!archive_) return {};
  const auto recording = recording::MappedFile::open(file_.path());
  if (!recording) return recording.error();
  auto packed = archive::pack(recording->bytes(), archive_->fd());
  if (packed && ::fsync(archive_->fd()) != 0) packed = errno_error("can't write", errno);
  if (!packed) return std::move(packed).error().in(archive_->path());
  if (auto published = archive_->publish(); !published) return published;
  ::unlink(file_.path().c_str());
  path_ = archive_->path();
  return {};
}

}  // namespace tarsier::cli
