// The views that are tables, as text.
#include <algorithm>
#include <cmath>

#include "analysis/alloc.h"
#include "analysis/flat.h"
#include "analysis/quality.h"
#include "analysis/thread_profile.h"
#include "analysis/wording.h"
#include "base/share.h"
#include "export/escape.h"
#include "export/report_view.h"
#include "export/report_waits.h"
#include "export/text_table.h"

namespace tarsier::exporting {

using analysis::fixed;
using analysis::words_of_bytes;
using analysis::words_of_count;
using analysis::words_of_share;
using analysis::words_of_time;

namespace {}  // namespace

std::string hot_text(const ReportContext& context) {
  const analysis::Cct cct = context.tree();
  const auto rows = analysis::flat_profile(cct);
  const analysis::Profile profile = context.model.profile;
  const analysis::ProfileInfo& info = analysis::about(profile);
  std::string out = profile == analysis::Profile::kAlloc   ? "Most allocated classes, and who leads to them"
                    : profile == analysis::Profile::kLocks ? "Most contended classes of locks, and who leads to them"
                    : profile == analysis::Profile::kOwners
                        ? "Most contended classes of locks, and who holds them while others wait"
                        : "Hot methods";
  out += " (shares of " + whole_of(context, cct.nodes[0].total) + ")\n";
  if (rows.empty()) return out + "  no " + std::string(info.events) + "\n";
  out += (info.is_census ? "    self   total" : "    self  95 % interval   total") +
         pad_left(std::string(info.events), 10 + (info.events.size() > 9 ? 3 : 0)) + "  method\n";
  const size_t shown = std::min(rows.size(), static_cast<size_t>(context.options.top));
  for (size_t i = 0; i < shown; ++i) {
    const analysis::HotMethod& row = rows[i];
    const size_t start = out.size();
    out += pad_left(words_of_share(share(row.self, cct.nodes[0].total)), 8);
    if (!info.is_census) {
      out += pad_left(fixed(row.self_ci95.low * 100, 1) + " .. " + fixed(row.self_ci95.high * 100, 1), 15);
    }
    out += pad_left(words_of_share(share(row.total, cct.nodes[0].total)), 8);
    out += pad_left(words_of_count(row.samples), 10 + (info.events.size() > 9 ? 3 : 0));
    append_name(out, start, cct.labels.names[row.label]);
  }
  append_left_out(out, shown, rows.size());
  return out;
}

std::string whole_of(const ReportContext& context, int64_t weight) {
  const analysis::Profile profile = context.model.profile;
  // What GC, JIT and the like have used is part of the time of the whole recording, and not known for a part of it.
  const bool without_jvm =
      profile == analysis::Profile::kCpu && !context.selection.whole_time() && !context.model.unsampled_cpu.empty();
  return analysis::words_of_weight(profile, weight) + " of " + std::string(analysis::about(profile).what) +
         (without_jvm ? ", of sampled threads only" : "");
}

std::string alloc_text(const ReportContext& context) {
  const analysis::Labels labels = context.labels();
  const analysis::AllocProfile profile = analysis::alloc_profile(context.model, context.selection, labels);
  std::string out = "Allocation (shares of " + words_of_bytes(Bytes(profile.all.bytes)) + " of allocated memory)\n";
  if (profile.rows.empty()) return out + "  no samples\n";
  out += "       bytes   95 % interval     share      objects  class, and the method that allocates it\n";
  const size_t shown = std::min(profile.rows.size(), static_cast<size_t>(context.options.top));
  for (size_t i = 0; i < shown; ++i) {
    const analysis::AllocRow& row = profile.rows[i];
    const analysis::Interval sure = row.estimate.bytes_ci95();
    const double half = share(std::llround((sure.high - sure.low) / 2), row.estimate.bytes);
    const size_t start = out.size();
    out += pad_left(words_of_bytes(Bytes(row.estimate.bytes)), 12);
    out += pad_left("+- " + words_of_share(half), 16);
    out += pad_left(words_of_share(share(row.estimate.bytes, profile.all.bytes)), 10);
    out += pad_left(
        row.estimate.objects > 0 ? words_of_count(static_cast<uint64_t>(std::llround(row.estimate.objects))) : "?", 13);
    append_name(out, start, labels.names[row.klass]);
    out += std::string(53, ' ') + cut_front(visible(labels.names[row.site]), kColumns - 60) +
           (row.line > 0 ? ":" + std::to_string(row.line) : "") + "\n";
  }
  append_left_out(out, shown, profile.rows.size());
  return out;
}

std::string quality_text(const ReportContext& context) {
  const analysis::Quality quality = analysis::assess_quality(context.model, context.selection);
  std::string out = "Quality\n";
  const auto row = [&](const std::string& what, uint64_t count, int depth = 0) {
    out += pad_left(words_of_count(count), 12);
    out += pad_left(words_of_share(share(static_cast<int64_t>(count), static_cast<int64_t>(quality.samples))), 10);
    out += std::string(2 + 2 * depth, ' ') + cut_front(visible(what), kColumns - 30) + "\n";
  };
  uint64_t failed = 0;
  for (const auto& [cause, count] : quality.failed) failed += count;
  row("samples", quality.samples);
  row("complete", quality.complete);
  row("incomplete: frames are missing", quality.incomplete);
  row("failed: no stack", failed);
  for (const auto& [cause, count] : quality.failed) row(cause, count, 1);
  row("imprecise: innermost line and inlining may be off", quality.imprecise);
  // What engines have counted is known for all of the recording: of a part of it no share can be told.
  const bool whole = context.selection.everything();
  const auto row_of_engine = [&](const std::string& what, uint64_t count, int depth = 0) {
    if (whole) return row(what, count, depth);
    out += pad_left(words_of_count(count), 12) + std::string(12 + 2 * depth, ' ') +
           cut_front(visible(what), kColumns - 30) + "\n";
  };
  if (!whole) out += "Of the whole recording:\n";
  for (const auto& [mechanism, count] : quality.by_mechanism) row_of_engine("by mechanism " + mechanism, count);
  if (quality.has_native) {
    row_of_engine("in native code", quality.native);
    row_of_engine("with all their native frames", quality.native_complete, 1);
    row_of_engine("with native code between Java frames", quality.native_between);
    row_of_engine("with all frames of it", quality.native_between_complete, 1);
  }
  if (quality.latency) {
    out += "From asking to having a stack: median " + words_of_time(quality.latency->p50) + ", 90 % within " +
           words_of_time(quality.latency->p90) + ", 99 % within " + words_of_time(quality.latency->p99) + ", longest " +
           words_of_time(quality.latency->max) + "\n";
  }
  if (quality.edges_checked > 0) {
    out += "Calls checked against the bytecodes: " + words_of_count(quality.edges_checked) + " of " +
           words_of_count(quality.edges) + ", " + words_of_count(quality.bad_edges) + " wrong\n";
  }
  for (const analysis::Engine& engine : context.model.engines) {
    if (!engine.is_pauses()) continue;
    append_wrapped(out, "Pauses: " + words_of_count(engine.taken) + " taken, " + words_of_count(engine.written) +
                            " written, " + words_of_count(engine.taken - std::min(engine.written, engine.taken)) +
                            " dropped; " + visible(engine.why));
  }
  return out;
}

}  // namespace tarsier::exporting
