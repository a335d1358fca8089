#include "export/page_head.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/contentions.h"
#include "analysis/quality.h"
#include "analysis/verdict.h"
#include "export/quality_json.h"
#include "export/report_view.h"
#include "export/report_wakers.h"

namespace tarsier::exporting {
namespace {

using Json = nlohmann::ordered_json;
using analysis::Model;
using analysis::Profile;

Json engine_json(const analysis::Engine& engine) {
  return {{"name", engine.name},
          {"mechanism", engine.mechanism},
          {"why", engine.why},
          {"interval_ns", engine.interval.count},
          {"interval_bytes", engine.interval_bytes.count},
          {"taken", engine.taken},
          {"written", engine.written},
          {"failed", engine.failed},
          {"dropped", object_of(engine.dropped)},
          {"counters", object_of(engine.counters)}};
}

Json profile_json(const Model& model, Profile profile, int64_t together) {
  uint64_t failed = 0, imprecise = 0, truncated = 0;
  for (const analysis::Sample& sample : samples_of(model, profile)) {
    failed += sample.failed ? 1 : 0;
    imprecise += sample.imprecise ? 1 : 0;
    truncated += sample.truncated ? 1 : 0;
  }
  Json unsampled = Json::object();
  if (profile == Profile::kCpu) {
    for (const auto& [kind, cpu] : model.unsampled_cpu) {
      unsampled[std::string(analysis::thread_kind_name(kind))] = cpu.count;
    }
  }
  const analysis::ProfileInfo& info = analysis::about(profile);
  return {{"name", info.name},
          {"unit", info.unit},
          {"what", info.what},
          {"events", info.events},
          {"census", info.is_census},
          {"samples",
           {{"count", samples_of(model, profile).events()},
            {"failed", failed},
            {"imprecise", imprecise},
            {"truncated", truncated}}},
          {"unsampled_ns", unsampled},
          {"together", together},
          {"quality", json_of_quality(analysis::assess_quality(model, {}, profile))}};
}

Json totals_json(const LockTotals& totals) {
  return {{"contentions", totals.contentions},
          {"kept", totals.kept},
          {"total_ns", totals.total_ns},
          {"kept_ns", totals.kept_ns}};
}

Json locks_json(const Model& model, const LockCollector::Encoded& locks) {
  Json json = totals_json(locks.locks);
  json["owners"] = analysis::owners_recorded(model);
  json["owners_left_out_ns"] = locks.owners_left_out_ns;
  json["parks"] = totals_json(locks.parks);
  json["text"] = missing_owners_text(model);
  return json;
}

}  // namespace

std::string PageHead::encode() const {
  Json engines = Json::array();
  for (const analysis::Engine& engine : model.engines) engines.push_back(engine_json(engine));
  Json described = Json::array();
  for (const Profile profile : profiles) {
    const auto found = together.find(profile);
    described.push_back(profile_json(model, profile, found == together.end() ? 0 : found->second));
  }
  const bool has_chosen = std::find(profiles.begin(), profiles.end(), model.profile) != profiles.end();
  Json head = {
      {"title", title},
      {"file", model.file},
      {"jvm", model.jvm},
      {"producer", model.producer},
      {"pid", model.pid},
      {"cpus", model.cpus},
      {"attached", model.attached},
      {"start_ms", model.start_ns / 1'000'000},
      {"duration_ns", model.duration.count},
      {"moment_ns", time.moment_ns()},
      {"moments", time.moments()},
      {"verdict", against ? against->verdict : analysis::verdict(model)},
      {"problems", model.problems},
      {"damaged", model.damaged},
      {"engines", engines},
      {"overhead", {{"app_threads_ns", model.overhead_app.count}, {"background_ns", model.overhead_background.count}}},
      {"profiles", described},
      {"default_profile", has_chosen         ? std::string(analysis::about(model.profile).name)
                          : profiles.empty() ? std::string()
                                             : std::string(analysis::about(profiles.front()).name)},
      {"parts", parts},
      {"complete", complete},
  };
  if (locks) head["locks"] = locks_json(model, *locks);
  if (waits) {
    head["waits"] = {{"waits", waits->waits},
                     {"kept", waits->kept},
                     {"total_ns", waits->total_ns},
                     {"kept_ns", waits->kept_ns},
                     {"wakers", wakers_recorded(model)}};
  }
  if (model.machine) {
    head["machine"] = {{"stolen_ns", model.machine->steal.count}, {"source", model.machine->source}};
  }
  if (against) {
    head["against"] = {{"file", against->model->file},
                       {"jvm", against->model->jvm},
                       {"duration_ns", against->model->duration.count},
                       {"samples", samples_of(*against->model, model.profile).events()},
                       {"per", against->per}};
  }
  return head.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tarsier::exporting
