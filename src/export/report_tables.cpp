// The views that are tables, as text.
#include <algorithm>

#include "analysis/flat.h"
#include "analysis/quality.h"
#include "analysis/thread_profile.h"
#include "analysis/wording.h"
#include "export/escape.h"
#include "export/report_view.h"

namespace tarsier::exporting {

using analysis::fixed;
using analysis::words_of_count;
using analysis::words_of_share;
using analysis::words_of_time;

namespace {

double share(int64_t part, int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string pad_left(const std::string& text, size_t width) {
  return text.size() >= width ? text : std::string(width - text.size(), ' ') + text;
}

// The last column takes what is left of the line.
void append_name(std::string& out, size_t line_start, std::string_view name) {
  const size_t used = out.size() - line_start;
  out += "  " + cut_front(visible(name), kColumns > used + 12 ? kColumns - used - 2 : 10) + "\n";
}

void append_left_out(std::string& out, size_t shown, size_t all) {
  if (all > shown) out += "  (" + words_of_count(all - shown) + " more; --top shows more of them)\n";
}

}  // namespace

std::string hot_text(const ReportContext& context) {
  const analysis::Cct cct = context.tree();
  const auto rows = analysis::flat_profile(cct);
  std::string out = "Hot methods (shares of " + words_of_time(Nanos(cct.nodes[0].total)) + " of CPU time)\n";
  if (rows.empty()) return out + "  no samples\n";
  out += "    self  95 % interval   total   samples  method\n";
  const size_t shown = std::min(rows.size(), static_cast<size_t>(context.options.top));
  for (size_t i = 0; i < shown; ++i) {
    const analysis::HotMethod& row = rows[i];
    const size_t start = out.size();
    out += pad_left(words_of_share(share(row.self, cct.nodes[0].total)), 8);
    out += pad_left(fixed(row.self_ci95.low * 100, 1) + " .. " + fixed(row.self_ci95.high * 100, 1), 15);
    out += pad_left(words_of_share(share(row.total, cct.nodes[0].total)), 8);
    out += pad_left(words_of_count(row.samples), 10);
    append_name(out, start, cct.labels.names[row.label]);
  }
  append_left_out(out, shown, rows.size());
  return out;
}

std::string threads_text(const ReportContext& context) {
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
  out += "         CPU     share     samples  kind            tid  thread\n";
  const size_t shown = std::min(rows.size(), static_cast<size_t>(context.options.top));
  for (size_t i = 0; i < shown; ++i) {
    const analysis::ThreadRow& row = rows[i];
    const analysis::Thread& thread = context.model.threads[row.thread.value];
    const size_t start = out.size();
    out += pad_left((row.measured ? "" : "~") + words_of_time(row.cpu), 12);
    out += pad_left(words_of_share(share(row.cpu.count, all.count)), 10);
    out += pad_left(words_of_count(row.samples), 12);
    const std::string kind(analysis::thread_kind_name(thread.kind));
    out += "  " + kind + std::string(8 - kind.size(), ' ');
    out += pad_left(std::to_string(thread.os_id), 11);
    append_name(out, start, thread.name + (thread.is_virtual ? " (virtual)" : ""));
  }
  append_left_out(out, shown, rows.size());
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
  row("incomplete: outer frames are missing", quality.incomplete);
  row("failed: no stack", failed);
  for (const auto& [cause, count] : quality.failed) row(cause, count, 1);
  row("imprecise: innermost line and inlining may be off", quality.imprecise);
  for (const auto& [mechanism, count] : quality.by_mechanism) row("by mechanism " + mechanism, count);
  return out;
}

}  // namespace tarsier::exporting
