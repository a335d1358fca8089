// A file that appears under its name only when there is something to keep: until then it has no name (or, on file
// systems that can't do that, a hidden one) and goes away with this object. What was there before is replaced at that
// moment, not earlier. Links are never followed.
#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace tarsier::cli {

class OutputFile {
 public:
  // 0600, for reading and writing.
  static Result<OutputFile> create(const std::string& path);
  // One that never gets a name, in the folder for temporary files.
  static Result<OutputFile> nameless();
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  [[nodiscard]] int fd() const { return file_.get(); }
  [[nodiscard]] const std::string& path() const { return path_; }
  // Nothing happens to a nameless one.
  Status publish();
  // Once published: does its path still lead to it?
  [[nodiscard]] bool is_in_place() const;

 private:
  OutputFile(std::string path, unique_fd folder, std::string name);
  Status open_file();
  std::string path_;
  unique_fd folder_;
  std::string name_;
  std::string hidden_name_;
  unique_fd file_;
  bool hidden_ = false;  // the file is there, under its hidden name
  bool nameless_ = false;
};

}  // namespace tarsier::cli
