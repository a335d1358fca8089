// A comparison as text.
#include <algorithm>
#include <cmath>

#include "analysis/wording.h"
#include "export/compare.h"
#include "export/escape.h"
#include "export/text_table.h"

namespace tarsier::exporting {

using analysis::Change;
using analysis::CompareOptions;
using analysis::Comparison;
using analysis::fixed;
using analysis::Model;
using analysis::Per;
using analysis::Profile;
using analysis::RowsBy;
using analysis::words_of_amount;
using analysis::words_of_count;
using analysis::words_of_share;
using analysis::words_of_time;

namespace {

// "samples", or "sample" if there is one.
std::string words_of_events(const Model& model) {
  const std::string_view events = analysis::about(model.profile).events;
  return std::string(model.samples.events() == 1 ? events.substr(0, events.size() - 1) : events);
}

std::string recordings_text(std::span<const Model> models) {
  std::string out;
  for (size_t i = 0; i < models.size(); ++i) {
    const Model& model = models[i];
    const std::string name = models.size() == 2 ? (i == 0 ? "A" : "B") : std::to_string(i + 1);
    std::string line = pad_left(name, 4) + "  " + words_of_time(model.duration) + ", " +
                       words_of_count(model.samples.events()) + " " + words_of_events(model);
    if (!model.jvm.empty()) line += ", JVM " + visible(model.jvm);
    out += cut_front(line, kColumns) + "\n        " + cut_front(visible(model.file), kColumns - 8) + "\n";
  }
  return out;
}

std::string signed_amount(Profile profile, Per per, double amount) {
  return (amount < 0 ? "-" : "+") + words_of_amount(profile, per, std::abs(amount));
}

std::string scale_text(Profile profile, Per per) {
  const std::string what(about(profile).what);
  if (per == Per::kShare) return "shares of the " + what;
  return what + (per == Per::kRun ? " of the whole recordings" : " per second of wall time");
}

// To where the column of methods begins.
void fill_up(std::string& out, size_t line_start) {
  constexpr size_t kWidth = 59;
  const size_t used = out.size() - line_start;
  if (used < kWidth) out.append(kWidth - used, ' ');
}

// As many callers as fit into a line.
std::string callers_text(const analysis::JointTree& tree, uint32_t node, size_t columns) {
  std::string text;
  for (uint32_t caller = tree.nodes[node].parent; caller != 0; caller = tree.nodes[caller].parent) {
    const std::string name = "< " + visible(tree.name(caller));
    if (display_width(text) + 1 + display_width(name) > columns) {
      return text.empty() ? cut_front(name, columns) : text + " ...";
    }
    text += (text.empty() ? "" : " ") + name;
  }
  return text;
}

std::string changes_text(const Comparison& comparison, Profile profile, const CompareOptions& options, size_t top) {
  const Per per = options.changes.per;
  const RowsBy by = options.changes.by;
  std::string out = by == RowsBy::kSelf    ? "Methods by what they do themselves"
                    : by == RowsBy::kTotal ? "Methods with all that they call"
                                           : "Calling contexts";
  out += ", in " + scale_text(profile, per) + " (--per)\n";
  out += "         A         B     change  +- (95 %)  factor  outcome  method\n";
  const auto& rows = comparison.changes->rows;
  const size_t shown = std::min(rows.size(), top);
  for (size_t i = 0; i < shown; ++i) {
    const Change& row = rows[i];
    const size_t start = out.size();
    out += pad_left(words_of_amount(profile, per, row.before), 10);
    out += pad_left(words_of_amount(profile, per, row.after), 10);
    out += pad_left(signed_amount(profile, per, row.difference()), 11);
    out += pad_left(row.tested ? words_of_amount(profile, per, row.half_ci95) : "?", 11);
    out += pad_left(row.before > 0 && row.after > 0 ? "x" + fixed(row.after / row.before, 2) : "", 8);
    out += "  " + std::string(outcome_of(row, profile, per));
    fill_up(out, start);
    append_name(out, start, row_name(comparison.tree, by, row.row));
    if (by != RowsBy::kContext) continue;
    if (const std::string callers = callers_text(comparison.tree, row.row, kColumns - 16); !callers.empty()) {
      out += std::string(12, ' ') + callers + "\n";
    }
  }
  append_left_out(out, shown, rows.size());
  return out;
}

std::string unsampled_text(const Comparison& comparison, Profile profile, Per per) {
  if (comparison.unsampled.empty()) return {};
  std::string out = "\nNot sampled (CPU time by the kernel's account; one number each, so the noise is not known)\n";
  for (const analysis::UnsampledChange& row : comparison.unsampled) {
    const size_t start = out.size();
    out += pad_left(words_of_amount(profile, per, row.before), 10);
    out += pad_left(words_of_amount(profile, per, row.after), 10);
    out += pad_left(signed_amount(profile, per, row.after - row.before), 11);
    fill_up(out, start);
    append_name(out, start, row.name);
  }
  return out;
}

std::string matrix_text(const std::vector<std::vector<double>>& matrix) {
  constexpr size_t kWidth = 9;
  const size_t average = matrix.size() - 1;
  std::string out(kWidth, ' ');
  for (size_t j = 0; j <= average; ++j) out += pad_left(j == average ? "average" : std::to_string(j + 1), kWidth);
  out += "\n";
  for (size_t i = 0; i <= average; ++i) {
    out += pad_left(i == average ? "average" : std::to_string(i + 1), kWidth);
    for (const double value : matrix[i]) out += pad_left(words_of_share(value), kWidth);
    out += "\n";
  }
  return out;
}

std::string quartiles_text(const std::string& what, const analysis::Quartiles& of) {
  std::string out;
  for (const double value : {of.least, of.first, of.median, of.third, of.most}) {
    out += pad_left(words_of_share(value), 10);
  }
  return out + "  " + what + "\n";
}

std::string agreement_text(const Comparison& comparison, const CompareOptions& options, size_t top) {
  const std::string threshold = words_of_share(options.threshold);
  std::string out = "Degree of overlap\n" + matrix_text(comparison.overlap);
  out += "\nHot-edge coverage: which share of the column's hot edges (from " + threshold +
         " of the hottest) the row has\n" + matrix_text(comparison.coverage);
  const analysis::Consistency& of = *comparison.consistency;
  out += "\nConsistency\n     least   quarter    median   quarter      most\n";
  out += quartiles_text("overlap of two recordings", of.overlap_of_pairs);
  out += quartiles_text("overlap of one with the average", of.overlap_with_average);
  out += quartiles_text("hot edges of one that another covers", of.coverage_of_pairs);
  out += quartiles_text("hot edges of one that the average covers", of.coverage_by_average);
  out += "\nThe average: methods by what they do themselves (shares)\n      mean     least      most  method\n";
  const auto methods = analysis::average_methods(comparison.tree);
  const size_t shown = std::min(methods.size(), top);
  for (size_t i = 0; i < shown; ++i) {
    const size_t start = out.size();
    for (const double share : {methods[i].mean, methods[i].least, methods[i].most}) {
      out += pad_left(words_of_share(share), 10);
    }
    append_name(out, start, comparison.tree.labels[methods[i].label]);
  }
  append_left_out(out, shown, methods.size());
  return out;
}

}  // namespace

std::string compare_text(const Comparison& comparison, std::span<const Model> models, const CompareOptions& options,
                         size_t top) {
  std::string out;
  for (const std::string& line : verdict_of(comparison, models, options)) append_wrapped(out, visible(line));
  out += "\n" + recordings_text(models) + "\n";
  if (!comparison.changes) return out + agreement_text(comparison, options, top);
  const Profile profile = models[0].profile;
  return out + changes_text(comparison, profile, options, top) +
         unsampled_text(comparison, profile, options.changes.per);
}

}  // namespace tarsier::exporting
