// Opening a recording for a command that shows it.
#pragma once

#include <span>
#include <string>

#include "analysis/model.h"
#include "base/result.h"
#include "cli/options.h"

namespace tarsier::cli {

// Of every command that shows a profile; load_recording() obeys it.
inline constexpr Option kWeightOption = {.name = "weight",
                                         .kind = Kind::kWord,
                                         .value = "KIND",
                                         .help = "which samples, weighted by what",
                                         .otherwise = "the first of them that the recording has",
                                         .allowed = "cpu,wall,alloc,waits"};

// The file that the command's only operand names.
Result<std::string> recording_operand(const std::string& command, std::span<const std::string> operands);
// The recording in it, a .jfr or .jfr.zst, with the profile that --weight names. Its errors are never those that mean
// JVMs.
Result<analysis::Model> load_recording(const std::string& command, const Arguments& arguments);
// Says what could not be read, and returns the exit code that belongs to it: 0, or 5 if something is missing.
int tell_problems(const analysis::Model& model);
int tell_problems(std::span<const std::string> problems, bool damaged);

}  // namespace tarsier::cli
