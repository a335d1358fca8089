#include "cli/recording_file.h"

#include <sys/stat.h>

#include <map>
#include <utility>

#include "analysis/lock_pass.h"
#include "analysis/so_far.h"
#include "analysis/steal_weights.h"
#include "archive/unpack.h"
#include "archive/unpacked_recording.h"
#include "cli/console.h"
#include "recording/mapped_file.h"
#include "recording/reader.h"

namespace tarsier::cli {

Result<std::string> recording_operand(const std::string& command, std::span<const std::string> operands) {
  if (operands.empty()) return Error{Errc::kUsage, "which recording? tarsier " + command + " FILE"};
  return operands[0];
}

std::string title_of(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

Status check_recording(const std::string& path) {
  const auto file = recording::MappedFile::open(path);
  if (!file) {
    const bool about_jvms = file.error().code == Errc::kNotPermitted;
    return Error{about_jvms ? Errc::kFailed : file.error().code, file.error().what};
  }
  if (archive::is_archive(file->bytes())) return {};
  if (auto checked = recording::Recording::over(file->bytes()); !checked) return std::move(checked).error().in(path);
  return {};
}

Result<analysis::Model> load_recording(const std::string& path, std::string_view weight, analysis::LockPass* locks,
                                       const std::function<void(const analysis::SoFar&)>& watch) {
  const auto file = archive::UnpackedRecording::open(path);
  if (!file) return file.error();
  analysis::LockPass for_verdict;
  analysis::LockPass& pass = locks != nullptr ? *locks : for_verdict;
  if (!pass.keeps_samples()) pass.keep_samples({});
  auto model = analysis::load_watched(file->path(), pass, watch);
  if (!model) {
    Error& error = model.error();
    const std::string unpacked = file->path();
    if (const size_t at = error.what.find(unpacked); at != std::string::npos) {
      error.what.replace(at, unpacked.size(), path);
    }
    return model;
  }
  model->file = path;
  const bool corrected = weight == kCorrected;
  if (!weight.empty()) {
    if (Status chosen = analysis::use_profile(*model, corrected ? "cpu" : weight); !chosen) {
      return std::move(chosen).error().in(path);
    }
  }
  if (corrected) {
    if (Status done = analysis::correct_for_steal(*model); !done) return std::move(done).error().in(path);
  }
  model->problems.insert(model->problems.begin(), file->problems().begin(), file->problems().end());
  model->damaged = model->damaged || !file->problems().empty();
  return model;
}

Result<analysis::Model> load_recording_operand(const std::string& command, const Arguments& arguments,
                                               analysis::LockPass* locks) {
  const auto path = recording_operand(command, arguments.operands);
  if (!path) return path.error();
  return load_recording(*path, arguments.text("weight"), locks);
}

Status check_different(std::span<const std::string> files) {
  std::map<std::pair<dev_t, ino_t>, std::string> seen;
  for (const std::string& file : files) {
    struct stat info {};
    if (::stat(file.c_str(), &info) != 0) continue;  // whoever opens it says why not
    const auto [other, fresh] = seen.try_emplace({info.st_dev, info.st_ino}, file);
    if (fresh) continue;
    return Error{Errc::kUsage, "the same recording twice: " + other->second + " and " + file};
  }
  return {};
}

Status check_output(const std::string& output, std::span<const std::string> files) {
  struct stat written {};
  if (::stat(output.c_str(), &written) != 0) return {};
  for (const std::string& file : files) {
    struct stat read {};
    if (::stat(file.c_str(), &read) != 0 || read.st_dev != written.st_dev || read.st_ino != written.st_ino) continue;
    return Error{Errc::kUsage,
                 "'" + output + "' is the recording itself, which would be gone: name another file by -o"};
  }
  return {};
}

int tell_problems(std::span<const std::string> problems, bool damaged) {
  for (const std::string& problem : problems) say("warning: " + problem);
  return damaged ? exit_code(Errc::kIncomplete) : 0;
}

int tell_problems(const analysis::Model& model) {
  return tell_problems(model.problems, model.damaged);
}

}  // namespace tarsier::cli
