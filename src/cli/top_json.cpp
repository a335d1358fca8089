#include "cli/top_json.h"

#include <time.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "export/escape.h"

namespace tarsier::cli {

using analysis::ThreadKind;
using analysis::TopMethodRow;
using analysis::TopSnapshot;
using analysis::TopThreadRow;
using Json = nlohmann::ordered_json;

namespace {

Json or_null(const std::optional<double>& number) {
  return number ? Json(*number) : Json();
}

Json json_of(const TopThreadRow& row) {
  return {{"tid", row.id.os_id > 0 ? Json(row.id.os_id) : Json()},
          {"java_id", row.id.java_id > 0 ? Json(row.id.java_id) : Json()},
          {"name", exporting::visible(row.name)},
          {"kind", std::string(analysis::thread_kind_name(row.kind))},
          {"together", row.together},
          {"cpu", row.cpu},
          {"system", or_null(row.system)},
          {"steal", or_null(row.steal)},
          {"run_queue", or_null(row.queue)},
          {"waiting", or_null(row.waiting)},
          {"blocked", or_null(row.blocked)},
          {"alloc_bytes_per_s", or_null(row.allocated)},
          {"voluntary_switches_per_s", or_null(row.voluntary_switches)},
          {"involuntary_switches_per_s", or_null(row.involuntary_switches)},
          {"minor_faults_per_s", or_null(row.minor_faults)},
          {"major_faults_per_s", or_null(row.major_faults)},
          {"migrations_per_s", or_null(row.migrations)},
          {"method", row.method.empty() ? Json() : Json(exporting::visible(row.method))}};
}

}  // namespace

std::string top_json(const TopSnapshot& snapshot, const TopTitle& title, const TopState& state, size_t rows) {
  Json threads = Json::array(), methods = Json::array();
  const std::vector<size_t> thread_rows = rows_of(snapshot, state, TopTable::kThreads);
  for (size_t i = 0; i < std::min(rows, thread_rows.size()); ++i) {
    threads.push_back(json_of(snapshot.threads[thread_rows[i]]));
  }
  const std::vector<size_t> method_rows = rows_of(snapshot, state, TopTable::kMethods);
  for (size_t i = 0; i < std::min(rows, method_rows.size()); ++i) {
    const TopMethodRow& row = snapshot.methods[method_rows[i]];
    methods.push_back({{"method", exporting::visible(row.name)}, {"self", row.self}, {"total", row.total}});
  }
  Json cpu;
  for (size_t i = 0; i < snapshot.cpu.size(); ++i) {
    cpu[std::string(analysis::thread_kind_name(static_cast<ThreadKind>(i)))] = snapshot.cpu[i];
  }
  const Json document = {
      {"time", in_seconds(clock_now(CLOCK_REALTIME))},
      {"pid", title.pid},
      {"main", title.main.empty() ? Json() : Json(exporting::visible(title.main))},
      {"jvm", title.jvm.empty() ? Json() : Json(exporting::visible(title.jvm))},
      {"uptime_s", in_seconds(title.uptime)},
      {"ended", title.ended.empty() ? Json() : Json(exporting::visible(title.ended))},
      {"span_s", in_seconds(snapshot.span)},
      {"since_start_s", in_seconds(snapshot.since_start)},
      {"cpus", title.cpus},
      {"thread_count", title.threads > 0 ? Json(title.threads) : Json()},
      {"threads_ended", snapshot.threads_ended},
      {"threads_not_listed", snapshot.unlisted},
      {"cpu", cpu},
      {"system", or_null(snapshot.system)},
      {"steal", or_null(snapshot.steal)},
      {"run_queue", or_null(snapshot.queue)},
      {"blocked", or_null(snapshot.blocked)},
      {"alloc_bytes_per_s", or_null(snapshot.allocated)},
      {"own",
       {{"app_threads", snapshot.own_app},
        {"background", snapshot.cpu_of(ThreadKind::kTarsier)},
        {"command", title.command_cpu}}},
      {"samples",
       {{"taken", snapshot.taken},
        {"failed", snapshot.failed},
        {"dropped", snapshot.dropped},
        {"skipped", title.skipped}}},
      {"threads", threads},
      {"methods", methods},
  };
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tarsier::cli
