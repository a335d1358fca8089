#include "export/flame_head.h"

#include <nlohmann/json.hpp>

#include "analysis/selection.h"
#include "analysis/verdict.h"

namespace tarsier::exporting {
namespace {

using nlohmann::ordered_json;

ordered_json engine_json(const analysis::Engine& engine) {
  return {{"name", engine.name},
          {"mechanism", engine.mechanism},
          {"why", engine.why},
          {"interval_ns", engine.interval.count},
          {"interval_bytes", engine.interval_bytes.count},
          {"taken", engine.taken},
          {"written", engine.written},
          {"failed", engine.failed},
          {"dropped", engine.dropped}};
}

ordered_json sample_counts(const analysis::Model& model) {
  uint64_t failed = 0, imprecise = 0, truncated = 0;
  for (const analysis::Sample& sample : model.samples) {
    failed += sample.failed ? 1 : 0;
    imprecise += sample.imprecise ? 1 : 0;
    truncated += sample.truncated ? 1 : 0;
  }
  return {{"count", model.samples.size()}, {"failed", failed}, {"imprecise", imprecise}, {"truncated", truncated}};
}

}  // namespace

std::string encode_flame_head(const analysis::Model& model, const std::string& title,
                              const std::optional<FlameAgainst>& against) {
  ordered_json engines = ordered_json::array();
  for (const analysis::Engine& engine : model.engines) engines.push_back(engine_json(engine));
  ordered_json unsampled = ordered_json::object();
  for (const auto& [kind, cpu] : analysis::unsampled_cpu(model, {})) {
    unsampled[std::string(analysis::thread_kind_name(kind))] = cpu.count;
  }
  ordered_json head = {
      {"title", title},
      {"file", model.file},
      {"profile", analysis::about(model.profile).name},
      {"unit", analysis::about(model.profile).unit},
      {"jvm", model.jvm},
      {"producer", model.producer},
      {"pid", model.pid},
      {"cpus", model.cpus},
      {"attached", model.attached},
      {"start_ms", model.start_ns / 1'000'000},
      {"duration_ns", model.duration.count},
      {"engines", engines},
      {"overhead", {{"app_threads_ns", model.overhead_app.count}, {"background_ns", model.overhead_background.count}}},
      {"problems", model.problems},
      {"damaged", model.damaged},
      {"samples", sample_counts(model)},
      {"unsampled_ns", unsampled},
      {"verdict", against ? against->verdict : analysis::verdict(model)},
  };
  if (against) {
    head["against"] = {{"file", against->model.file},
                       {"jvm", against->model.jvm},
                       {"duration_ns", against->model.duration.count},
                       {"samples", against->model.samples.size()},
                       {"per", against->per}};
  }
  return head.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace tarsier::exporting
