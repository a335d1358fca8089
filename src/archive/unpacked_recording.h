// A recording's bytes, whether it is a .jfr or a .jfr.zst. An archive is unpacked into a nameless file first: the
// reader jumps about in a chunk, and a recording may be bigger than one would like to hold in memory.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "recording/mapped_file.h"

namespace tarsier::archive {

class UnpackedRecording {
 public:
  // Errors name the file as the user does, and are never those that mean JVMs.
  static Result<UnpackedRecording> open(const std::string& path);

  [[nodiscard]] std::span<const uint8_t> bytes() const { return mapped_.bytes(); }
  // To be opened as long as this lives.
  [[nodiscard]] std::string path() const;
  // What an archive lacks; empty for a .jfr, which the reader judges.
  [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }

 private:
  UnpackedRecording(std::string given, recording::MappedFile mapped)
      : given_(std::move(given)), mapped_(std::move(mapped)) {}
  std::string given_;
  unique_fd unpacked_;  // none: what the user gave us is it
  recording::MappedFile mapped_;
  std::vector<std::string> problems_;
};

}  // namespace tarsier::archive
