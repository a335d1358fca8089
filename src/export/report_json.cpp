// The views that are tables, as JSON, and what describes the recording. Trees: see report_tree.cpp.
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>

#include "analysis/alloc.h"
#include "analysis/blocked_threads.h"
#include "analysis/flat.h"
#include "analysis/thread_profile.h"
#include "analysis/verdict.h"
#include "base/share.h"
#include "export/quality_json.h"
#include "export/report_view.h"
#include "export/report_waits.h"

namespace tarsier::exporting {

using Json = nlohmann::ordered_json;

namespace {

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// 2024-03-01T12:00:00.250Z
std::string iso_time(int64_t ns) {
  constexpr int64_t kSecond = 1'000'000'000;
  const time_t whole = static_cast<time_t>(ns / kSecond - (ns % kSecond < 0 ? 1 : 0));
  const int64_t milli = (ns % kSecond + kSecond) % kSecond / 1'000'000;
  tm utc{};
  ::gmtime_r(&whole, &utc);
  std::array<char, 64> buffer{};
  const size_t length = std::strftime(buffer.data(), buffer.size(), "%Y-%m-%dT%H:%M:%S", &utc);
  std::string text(buffer.data(), length);
  std::snprintf(buffer.data(), buffer.size(), ".%03dZ", static_cast<int>(milli));
  return text + buffer.data();
}

}  // namespace

std::string json_text(std::string_view text) {
  return dump(Json(text));
}

std::string recording_json(const analysis::Model& model) {
  const bool ours = model.producer != "jfr";
  Json engines = Json::array();
  for (const analysis::Engine& engine : model.engines) {
    engines.push_back(
        {{"name", engine.name},
         {"mechanism", engine.mechanism},
         {"why", engine.why},
         {"interval_ns", engine.interval.count},
         {"interval_bytes", engine.interval_bytes.count},
         {"samples", {{"taken", engine.taken}, {"written", engine.written}, {"dropped", object_of(engine.dropped)}}},
         {"counters", object_of(engine.counters)}});
  }
  const Json json = {
      {"file", model.file},
      {"producer", model.producer},
      {"jvm", model.jvm},
      {"pid", model.pid},
      {"cpus", model.cpus},
      {"attached", model.attached},
      {"start", iso_time(model.start_ns)},
      {"duration_s", in_seconds(model.duration)},
      {"engines", engines},
      {"overhead",
       {{"app_threads_ns", ours ? Json(model.overhead_app.count) : Json()},
        {"background_ns", ours ? Json(model.overhead_background.count) : Json()}}},
      {"profile", analysis::about(model.profile).name},
      {"unit", analysis::about(model.profile).unit},
      {"damaged", model.damaged},
      {"problems", model.problems},
  };
  return dump(json);
}

std::string verdict_json(const analysis::Model& model) {
  return dump(Json(analysis::verdict(model)));
}

std::string hot_json(const ReportContext& context) {
  const analysis::Cct cct = context.tree();
  Json rows = Json::array();
  for (const analysis::HotMethod& row : analysis::flat_profile(cct)) {
    if (rows.size() == static_cast<size_t>(context.options.top)) break;
    rows.push_back({{"method", cct.labels.names[row.label]},
                    {"self", share(row.self, cct.nodes[0].total)},
                    {"total", share(row.total, cct.nodes[0].total)},
                    {"self_ci95", Json::array({row.self_ci95.low, row.self_ci95.high})},
                    {"samples", row.samples}});
  }
  return dump(rows);
}

std::string alloc_json(const ReportContext& context) {
  const analysis::Labels labels = context.labels();
  const analysis::AllocProfile profile = analysis::alloc_profile(context.model, context.selection, labels);
  Json rows = Json::array();
  for (const analysis::AllocRow& row : profile.rows) {
    if (rows.size() == static_cast<size_t>(context.options.top)) break;
    const analysis::Interval sure = row.estimate.bytes_ci95();
    const bool counted = row.estimate.objects > 0;
    rows.push_back({{"site", labels.names[row.site]},
                    {"line", row.line},
                    {"class", labels.names[row.klass]},
                    {"alloc_bytes", row.estimate.bytes},
                    {"alloc_bytes_ci95", Json::array({std::llround(sure.low), std::llround(sure.high)})},
                    {"alloc_count", counted ? Json(std::llround(row.estimate.objects)) : Json()},
                    {"share", share(row.estimate.bytes, profile.all.bytes)},
                    {"samples", row.estimate.samples}});
  }
  return dump(rows);
}

std::string quality_json(const ReportContext& context) {
  return dump(json_of_quality(analysis::assess_quality(context.model, context.selection)));
}

}  // namespace tarsier::exporting
