#include "cli/recording_file.h"

#include "cli/console.h"

namespace tarsier::cli {

Result<analysis::Model> load_recording(const std::string& command, std::span<const std::string> operands) {
  if (operands.empty()) return Error{Errc::kUsage, "which recording? tarsier " + command + " FILE"};
  auto model = analysis::load(operands[0]);
  if (!model && (model.error().code == Errc::kNotFound || model.error().code == Errc::kNotPermitted)) {
    model.error().code = Errc::kFailed;  // of files, not of JVMs
  }
  return model;
}

int tell_problems(const analysis::Model& model) {
  for (const std::string& problem : model.problems) say("warning: " + problem);
  return model.damaged ? exit_code(Errc::kIncomplete) : 0;
}

}  // namespace tarsier::cli
