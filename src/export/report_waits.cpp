// The view `waits`, as text and as JSON, and the account of threads' times that other views show, too.
#include "export/report_waits.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "analysis/waits.h"
#include "analysis/wakeups.h"
#include "analysis/wording.h"
#include "base/share.h"
#include "export/escape.h"
#include "export/report_view.h"
#include "export/report_wakers.h"
#include "export/text_table.h"

namespace tarsier::exporting {

using analysis::ThreadTime;
using analysis::WaitSum;
using analysis::words_of_count;
using analysis::words_of_share;
using analysis::words_of_time;
using recording::TimePart;
using Json = nlohmann::ordered_json;

namespace {

int64_t mean(const WaitSum& sum) {
  return sum.count > 0 ? sum.ns / static_cast<int64_t>(sum.count) : 0;
}

// As the keys of the JSON have them.
constexpr std::pair<TimePart, const char*> kWaitParts[] = {
    {TimePart::kWaits, "waits"},          {TimePart::kShortWaits, "short_waits"},
    {TimePart::kLongWaits, "long_waits"}, {TimePart::kMissedWaits, "missed_waits"},
    {TimePart::kOpenWait, "open_wait"},
};

}  // namespace

std::string waits_text(const ReportContext& context) {
  const analysis::Labels labels = context.labels();
  const analysis::WokenProfile profile = analysis::woken_profile(context.model, context.selection, labels);
  const WaitSum& all = profile.all;
  std::string out = "Waits (shares of " + words_of_time(Nanos(all.ns)) + " in " + words_of_count(all.count) + " waits";
  if (all.ongoing > 0) out += ", " + words_of_count(all.ongoing) + " of them not over at the end";
  out += ")\n";
  if (profile.rows.empty()) return out + "  none\n" + times_text(context);
  out += "        time   share     waits       mean    longest  kind        where\n";
  const size_t shown = std::min(profile.rows.size(), static_cast<size_t>(context.options.top));
  for (size_t i = 0; i < shown; ++i) {
    const analysis::WokenRow& row = profile.rows[i];
    const std::string kind = cut_front(visible(context.model.wait_kinds[row.kind]), 10);
    std::string line = pad_left(words_of_time(Nanos(row.sum.ns)), 12);
    line += pad_left(words_of_share(share(row.sum.ns, all.ns)), 8);
    line += pad_left(words_of_count(row.sum.count), 10);
    line += pad_left(words_of_time(Nanos(mean(row.sum))), 11);
    line += pad_left(words_of_time(Nanos(row.sum.longest)), 11);
    line += "  " + kind + std::string(12 - std::min<size_t>(display_width(kind), 11), ' ');
    const std::string where = row.chain.empty() ? "?" : visible(labels.names[row.chain[0]]);
    out += line + cut_front(where, kColumns - display_width(line)) + "\n";
    const std::string callers = callers_text(row.chain, 1, labels, kColumns - 14);
    if (!callers.empty()) out += std::string(14, ' ') + callers + "\n";
    if (wakers_recorded(context.model)) out += wakers_text(context.model, row, labels);
  }
  if (profile.rows.size() > shown) {
    out += "  (" + words_of_count(profile.rows.size() - shown) + " more; --top shows more of them)\n";
  }
  return out + missing_wakers_text(context.model) + times_text(context);
}

std::string times_text(const ReportContext& context) {
  if (context.model.thread_times.empty() || !context.selection.whole_time()) return {};
  std::vector<std::pair<analysis::ThreadIndex, const ThreadTime*>> rows;
  for (const auto& [thread, time] : context.model.thread_times) {
    if (context.selection.has(thread)) rows.emplace_back(thread, &time);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second->life() > b.second->life(); });
  const ThreadTime sum = analysis::sum_of_times(context.model, context.selection);
  std::string out = "\nWhere the time of threads went (life = all the rest of the row)\n";
  out += "        life       CPU run queue     waits     short      long    missed  thread\n";
  const auto row = [&](const ThreadTime& time, const std::string& name) {
    std::string line = pad_left(words_of_time(time.life()), 12);
    for (const TimePart part : {TimePart::kCpu, TimePart::kQueue})
      line += pad_left(words_of_time(time.of(part).time), 10);
    line += pad_left(words_of_time(time.of(TimePart::kWaits).time + time.of(TimePart::kOpenWait).time), 10);
    for (const TimePart part : {TimePart::kShortWaits, TimePart::kLongWaits, TimePart::kMissedWaits}) {
      line += pad_left(words_of_time(time.of(part).time), 10);
    }
    out += line + "  " + cut_front(visible(name), kColumns - line.size() - 2) + "\n";
  };
  row(sum, "all " + std::to_string(rows.size()));
  const size_t shown = std::min(rows.size(), static_cast<size_t>(context.options.top));
  for (size_t i = 0; i < shown; ++i) row(*rows[i].second, context.model.threads[rows[i].first.value].name);
  if (rows.size() > shown) out += "  (" + words_of_count(rows.size() - shown) + " more; --top shows more of them)\n";
  return out;
}

Json time_json(const ThreadTime& time) {
  Json json = {{"life_ns", time.life().count},
               {"cpu_ns", time.of(TimePart::kCpu).time.count},
               {"run_queue_ns", time.of(TimePart::kQueue).time.count}};
  for (const auto& [part, name] : kWaitParts) {
    json[name] = {{"ns", time.of(part).time.count}, {"count", time.of(part).count}};
  }
  return json;
}

std::string waits_json(const ReportContext& context) {
  const analysis::Labels labels = context.labels();
  const analysis::WaitProfile profile = analysis::wait_profile(context.model, context.selection, labels);
  const analysis::WokenProfile woken = analysis::woken_profile(context.model, context.selection, labels);
  const ThreadTime sum = analysis::sum_of_times(context.model, context.selection);
  const auto sum_json = [](const WaitSum& of) {
    return Json{
        {"ns", of.ns}, {"count", of.count}, {"mean_ns", mean(of)}, {"max_ns", of.longest}, {"ongoing", of.ongoing}};
  };
  Json kinds = Json::object();
  for (size_t i = 0; i < profile.by_kind.size(); ++i) {
    if (profile.by_kind[i].count > 0) kinds[context.model.wait_kinds[i]] = sum_json(profile.by_kind[i]);
  }
  Json by = Json::object();
  for (const auto& [who, of] : woken.by) by[analysis::woken_by_name(who)] = sum_json(of);
  Json rows = Json::array();
  for (const analysis::WokenRow& row : woken.rows) {
    if (rows.size() == static_cast<size_t>(context.options.top)) break;
    Json chain = Json::array();
    for (const uint32_t label : row.chain) chain.push_back(labels.names[label]);
    Json json = {{"kind", context.model.wait_kinds[row.kind]}, {"share", share(row.sum.ns, profile.all.ns)}};
    json.update(sum_json(row.sum));
    json["blocked_chain"] = std::move(chain);
    add_wakers(json, context.model, row, labels);
    rows.push_back(std::move(json));
  }
  const Json json = {
      {"total_ns", profile.all.ns},     {"count", profile.all.count},
      {"ongoing", profile.all.ongoing}, {"short_ns", sum.of(TimePart::kShortWaits).time.count},
      {"by_kind", std::move(kinds)},    {"wakers_recorded", wakers_recorded(context.model)},
      {"by_waker", std::move(by)},      {"time", context.model.thread_times.empty() ? Json() : time_json(sum)},
      {"rows", std::move(rows)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tarsier::exporting
