// The views `threads` and `steal`: who used the CPUs, what else the kernel knows of that, and what was taken away.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "analysis/blocked_threads.h"
#include "analysis/machine_stack.h"
#include "analysis/thread_profile.h"
#include "analysis/wording.h"
#include "base/share.h"
#include "export/escape.h"
#include "export/report_view.h"
#include "export/report_waits.h"
#include "export/text_table.h"

namespace tarsier::exporting {

using analysis::Resource;
using analysis::words_of_count;
using analysis::words_of_share;
using analysis::words_of_time;
using Json = nlohmann::ordered_json;

namespace {

std::string thread_name(const analysis::Thread& thread) {
  return thread.name + (thread.is_virtual ? " (virtual)" : "");
}

void append_kind_and_id(std::string& out, const analysis::Thread& thread) {
  const std::string kind(analysis::thread_kind_name(thread.kind));
  out += "  " + kind + std::string(8 - kind.size(), ' ');
  out += pad_left(std::to_string(thread.os_id), 9);
}

std::string time_or_dash(const std::optional<int64_t>& ns) {
  return ns ? words_of_time(Nanos(*ns)) : "-";
}
std::string count_or_dash(const std::optional<int64_t>& count) {
  return count ? words_of_count(static_cast<uint64_t>(*count)) : "-";
}
std::optional<int64_t> sum(const std::optional<int64_t>& a, const std::optional<int64_t>& b) {
  return a && b ? std::optional(*a + *b) : std::nullopt;
}

// Of profiles that the kernel keeps no account of.
std::string threads_by_samples(const ReportContext& context) {
  const auto rows = analysis::thread_profile(context.model, context.selection);
  std::string out = "Threads (shares of " + whole_of(context, context.weights.weight) + ")\n";
  if (rows.empty()) return out + "  none\n";
  out += "      weight     share     samples  kind          tid  thread\n";
  const size_t shown = std::min(rows.size(), static_cast<size_t>(context.options.top));
  for (size_t i = 0; i < shown; ++i) {
    const analysis::Thread& thread = context.model.threads[rows[i].thread.value];
    const size_t start = out.size();
    out += pad_left(analysis::words_of_weight(context.model.profile, rows[i].sampled), 12);
    out += pad_left(words_of_share(share(rows[i].sampled, context.weights.weight)), 10);
    out += pad_left(words_of_count(rows[i].samples), 12);
    append_kind_and_id(out, thread);
    append_name(out, start, thread_name(thread));
  }
  append_left_out(out, shown, rows.size());
  return out;
}

std::string bar(double part) {
  constexpr int kWidth = 40;
  const auto full = static_cast<int>(std::lround(std::clamp(part, 0.0, 1.0) * kWidth));
  return std::string(static_cast<size_t>(full), '#');
}

// Is it my code, the collector, the compiler, somebody else, or the hypervisor?
std::string stack_text(const ReportContext& context) {
  if (!context.selection.whole_time()) return {};
  const analysis::MachineStack stack = analysis::machine_stack(context.model);
  if (stack.whole.count == 0) return {};
  std::string out = "\nWhere the time of " +
                    std::string(stack.whole_machine ? "all CPUs" : "this JVM's threads on the CPUs") + " went\n";
  out += "        time     share    CPUs  of\n";
  for (const analysis::MachinePart& part : stack.parts) {
    if (part.time.count == 0) continue;
    char cpus[16];
    std::snprintf(cpus, sizeof(cpus), "%.2f", part.cpus);
    out += pad_left(words_of_time(part.time), 12) +
           pad_left(words_of_share(share(part.time.count, stack.whole.count)), 10) + pad_left(cpus, 8) + "  " +
           part.name + std::string(26 - part.name.size(), ' ') + bar(share(part.time.count, stack.whole.count));
    out.erase(out.find_last_not_of(' ') + 1);
    out += "\n";
  }
  return out;
}

// What else the kernel has counted; nothing in recordings of others.
std::string resources_text(const ReportContext& context, const std::vector<analysis::ThreadRow>& rows, size_t shown) {
  if (!context.model.machine || !context.selection.whole_time()) return {};
  const bool stolen = context.model.machine->steal.count > 0;
  std::string out = "\nWhat happened to them\n   in kernel  run queue   switches      faults  migrations";
  out += std::string(stolen ? "       steal" : "") + "  thread\n";
  for (size_t i = 0; i < shown; ++i) {
    const analysis::Thread& thread = context.model.threads[rows[i].thread.value];
    const analysis::Resources& resources = thread.resources;
    const size_t start = out.size();
    out += pad_left(time_or_dash(resources.of(Resource::kSystem)), 12);
    out += pad_left(time_or_dash(resources.of(Resource::kRunQueue)), 11);
    out += pad_left(
        count_or_dash(sum(resources.of(Resource::kVoluntarySwitches), resources.of(Resource::kInvoluntarySwitches))),
        11);
    out += pad_left(count_or_dash(sum(resources.of(Resource::kMinorFaults), resources.of(Resource::kMajorFaults))), 12);
    out += pad_left(count_or_dash(resources.of(Resource::kMigrations)), 12);
    if (stolen) out += pad_left(time_or_dash(resources.of(Resource::kSteal)), 12);
    append_name(out, start, thread_name(thread));
  }
  return out;
}

std::string counters_text(const ReportContext& context, const std::vector<analysis::ThreadRow>& rows, size_t shown) {
  std::vector<std::string> names;
  for (const auto& [thread, counters] : context.model.thread_counters) {
    for (const auto& [name, counter] : counters) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  if (names.empty() || !context.selection.whole_time()) return {};
  std::sort(names.begin(), names.end());
  bool shared = false;
  std::string out = "\nCounters\n";
  for (const std::string& name : names) out += pad_left(cut_front(visible(name), 17), 18);
  out += "  thread\n";
  for (size_t i = 0; i < shown; ++i) {
    const auto found = context.model.thread_counters.find(rows[i].thread);
    if (found == context.model.thread_counters.end()) continue;
    const size_t start = out.size();
    for (const std::string& name : names) {
      const auto counter = found->second.find(name);
      const bool known = counter != found->second.end();
      const bool scaled = known && counter->second.running < counter->second.enabled;
      shared = shared || scaled;
      out += pad_left(!known ? "-" : (scaled ? "~" : "") + words_of_count(static_cast<uint64_t>(counter->second.value)),
                      18);
    }
    append_name(out, start, thread_name(context.model.threads[rows[i].thread.value]));
  }
  if (shared) out += "  (~ scaled up: the hardware has fewer counters than were asked for, and they took turns)\n";
  return out;
}

Json or_null(const std::optional<int64_t>& value) {
  return value ? Json(*value) : Json();
}

Json resources_json(const analysis::Resources& resources) {
  Json json;
  for (size_t i = 0; i < analysis::kResources; ++i) {
    if (static_cast<Resource>(i) == Resource::kSteal) continue;  // a key of its own
    json[std::string(analysis::kResourceNames[i])] = or_null(resources.values[i]);
  }
  return json;
}

Json counters_json(const analysis::Model& model, analysis::ThreadIndex thread) {
  Json json = Json::object();
  const auto found = model.thread_counters.find(thread);
  if (found == model.thread_counters.end()) return json;
  for (const auto& [name, counter] : found->second) json[visible(name)] = counter.value;
  return json;
}

}  // namespace

std::string threads_text(const ReportContext& context) {
  if (context.model.profile != analysis::Profile::kCpu) return threads_by_samples(context) + times_text(context);
  const auto rows = analysis::thread_profile(context.model, context.selection);
  Nanos all;
  bool estimated = false;
  for (const analysis::ThreadRow& row : rows) {
    all += row.cpu;
    estimated = estimated || !row.measured;
  }
  std::string out = "Threads (CPU time";
  if (estimated) out += "; ~ by samples, where the kernel's account is not known";
  out += ")\n";
  if (rows.empty()) return out + "  none\n";
  out += "         CPU     share     samples  kind          tid  thread\n";
  const size_t shown = std::min(rows.size(), static_cast<size_t>(context.options.top));
  for (size_t i = 0; i < shown; ++i) {
    const analysis::ThreadRow& row = rows[i];
    const analysis::Thread& thread = context.model.threads[row.thread.value];
    const size_t start = out.size();
    out += pad_left((row.measured ? "" : "~") + words_of_time(row.cpu), 12);
    out += pad_left(words_of_share(share(row.cpu.count, all.count)), 10);
    out += pad_left(words_of_count(row.samples), 12);
    append_kind_and_id(out, thread);
    append_name(out, start, thread_name(thread));
  }
  append_left_out(out, shown, rows.size());
  return out + resources_text(context, rows, shown) + counters_text(context, rows, shown) + stack_text(context) +
         times_text(context);
}

std::string threads_json(const ReportContext& context) {
  Json rows = Json::array();
  const bool in_time = context.model.profile != analysis::Profile::kAlloc;
  const bool whole = context.selection.whole_time();
  const std::vector<int64_t> blocked = analysis::blocked_by_thread(context.model, context.selection);
  for (const analysis::ThreadRow& row : analysis::thread_profile(context.model, context.selection)) {
    const analysis::Thread& thread = context.model.threads[row.thread.value];
    const analysis::Resources resources = whole ? thread.resources : analysis::Resources();
    const auto times = context.model.thread_times.find(row.thread);
    const bool timed = times != context.model.thread_times.end() && whole;
    rows.push_back({{"tid", thread.os_id},
                    {"java_tid", thread.java_id},
                    {"name", thread.name},
                    {"group", thread.group},
                    {"pool", analysis::pool_of_thread(thread.name)},
                    {"kind", analysis::thread_kind_name(thread.kind)},
                    {"virtual", thread.is_virtual},
                    {"cpu_ns", row.cpu.count},
                    {"cpu_by", row.measured ? "kernel" : "samples"},
                    {"samples", row.samples},
                    {"sampled", row.sampled},
                    {"sampled_ns", in_time ? Json(row.sampled) : Json()},
                    // null: no engine measured it
                    {"steal_ns", or_null(resources.of(Resource::kSteal))},
                    {"resources", resources_json(resources)},
                    {"blocked_ns", blocked.empty() ? Json() : Json(blocked[row.thread.value])},
                    {"waiting_ns", timed ? Json(times->second.waiting().count) : Json()},
                    {"time", timed ? time_json(times->second) : Json()},
                    {"counters", whole ? counters_json(context.model, row.thread) : Json::object()}});
  }
  return rows.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string steal_text(const ReportContext& context) {
  std::string out = "Steal time (what the hypervisor took while there was something to run)\n";
  if (!context.model.machine) return out + "  not recorded\n";
  const analysis::MachineCpu& machine = *context.model.machine;
  append_wrapped(out, "From " + visible(machine.source) + ".");
  if (machine.steal.count == 0) return out + "  none\n";
  const auto line = [&](Nanos time, const std::string& of) {
    out += pad_left(words_of_time(time), 12) + pad_left(words_of_share(share(time.count, machine.steal.count)), 10) +
           "  " + of + "\n";
  };
  line(machine.steal, "stolen in all");
  line(machine.steal_of_threads, "from the threads of this JVM");
  line(machine.steal_of_others, "from other processes");
  line(machine.steal_remainder, "from nobody that was seen to run");
  if (!context.selection.whole_time()) return out + "  by thread: of the whole recording only\n";
  out += "\n       steal  by schedule       CPU  corrected  kind          tid  thread\n";
  const std::vector<analysis::StealRow> rows = analysis::steal_profile(context.model, context.selection);
  const size_t shown = std::min(rows.size(), static_cast<size_t>(context.options.top));
  for (size_t i = 0; i < shown; ++i) {
    const analysis::Thread& thread = context.model.threads[rows[i].thread.value];
    const size_t start = out.size();
    out += pad_left(words_of_time(rows[i].steal), 12) +
           pad_left(time_or_dash(thread.resources.of(Resource::kStealScheduled)), 13) +
           pad_left(words_of_time(rows[i].cpu), 10) + pad_left(words_of_time(rows[i].corrected), 11);
    append_kind_and_id(out, thread);
    append_name(out, start, thread_name(thread));
  }
  append_left_out(out, shown, rows.size());
  return out;
}

std::string steal_json(const ReportContext& context) {
  if (!context.model.machine) return "null";
  const analysis::MachineCpu& machine = *context.model.machine;
  Json threads = Json::array();
  if (context.selection.whole_time()) {
    for (const analysis::StealRow& row : analysis::steal_profile(context.model, context.selection)) {
      const analysis::Thread& thread = context.model.threads[row.thread.value];
      threads.push_back({{"tid", thread.os_id},
                         {"name", thread.name},
                         {"kind", analysis::thread_kind_name(thread.kind)},
                         {"cpu_ns", row.cpu.count},
                         {"steal_ns", row.steal.count},
                         {"corrected_ns", row.corrected.count},
                         {"steal_scheduled_ns", or_null(thread.resources.of(Resource::kStealScheduled))}});
    }
  }
  const Json json = {{"source", machine.source},
                     {"in_cpu_time", machine.steal_in_cpu_time},
                     {"stolen_ns", machine.steal.count},
                     {"threads_ns", machine.steal_of_threads.count},
                     {"others_ns", machine.steal_of_others.count},
                     {"remainder_ns", machine.steal_remainder.count},
                     {"busy_ns", machine.busy.count},
                     {"idle_ns", machine.idle.count},
                     {"process_cpu_ns", machine.process_cpu.count},
                     {"threads", std::move(threads)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tarsier::exporting
