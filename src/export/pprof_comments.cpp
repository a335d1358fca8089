#include "export/pprof_comments.h"

#include "base/parse.h"

namespace tarsier::exporting {
namespace {

std::string about(const analysis::Engine& engine) {
  std::string text = "engine " + engine.name + ": ";
  if (!engine.mechanism.empty()) text += engine.mechanism + ", ";
  text += "interval " + format_duration(engine.interval) + ", taken " + std::to_string(engine.taken) + ", written " +
          std::to_string(engine.written);
  for (const auto& [cause, count] : engine.dropped) text += ", dropped " + std::to_string(count) + " (" + cause + ")";
  if (!engine.why.empty()) text += "; " + engine.why;
  return text;
}

}  // namespace

std::vector<std::string> pprof_comments(const analysis::Model& model) {
  std::vector<std::string> lines;
  lines.push_back("recorded by " + model.producer + " from JVM " + (model.jvm.empty() ? "?" : model.jvm) + ", pid " +
                  std::to_string(model.pid));
  for (const analysis::Engine& engine : model.engines) lines.push_back(about(engine));
  for (const std::string& problem : model.problems) lines.push_back("problem: " + problem);
  return lines;
}

}  // namespace tarsier::exporting
