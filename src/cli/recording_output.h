// Where `record` leaves its recording. The agent always writes a .jfr, which is valid at every moment; of `-o
// x.jfr.zst` that is x.jfr while it lasts, and the archive is made at the end. The .jfr goes only when the archive is
// there.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "cli/output_file.h"

namespace tarsier::cli {

class RecordingOutput {
 public:
  static Result<RecordingOutput> create(const std::string& path);
  // For a recording that nobody wants to keep.
  static Result<RecordingOutput> nameless();

  [[nodiscard]] OutputFile& file() { return file_; }
  // Makes the archive, if one was asked for. The recording then lies at path().
  Status finish();
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  RecordingOutput(OutputFile file, std::optional<OutputFile> archive)
      : file_(std::move(file)), archive_(std::move(archive)), path_(file_.path()) {}
  OutputFile file_;
  std::optional<OutputFile> archive_;
  std::string path_;
};

}  // namespace tarsier::cli
