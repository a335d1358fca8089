// The sentences of a comparison.
#include <algorithm>
#include <cmath>

#include "analysis/comparison.h"
#include "analysis/wording.h"

namespace tarsier::analysis {
namespace {

// "method" of which a sentence counts several.
std::string counted(size_t count, const std::string& what) {
  return words_of_count(count) + " " + what + (count == 1 ? "" : "s");
}

std::string what_rows_are(RowsBy by) {
  return by == RowsBy::kContext ? "calling context" : "method";
}

// "Slower" is for CPU time; a larger share or more memory is just more.
std::string_view direction(bool more, Profile profile, Per per) {
  if (profile != Profile::kCpu || per == Per::kShare) return more ? "more" : "less";
  return more ? "slower" : "faster";
}

std::string factor_of(const Change& change) {
  if (change.before <= 0) return "was not there before";
  if (change.after <= 0) return "is gone";
  return "x" + fixed(change.after / change.before, 2);
}

std::string from_to(Profile profile, Per per, const Change& change) {
  return words_of_amount(profile, per, change.before) + " -> " + words_of_amount(profile, per, change.after);
}

std::string unit_of(Profile profile, Per per) {
  const std::string what(about(profile).what);
  if (per == Per::kShare) return "of the " + what;
  return "of " + what + (per == Per::kSecond ? " per second" : "");
}

std::string first_sentence(const Comparison& comparison, Profile profile, const ChangeOptions& options) {
  const Changes& changes = *comparison.changes;
  const std::string what = what_rows_are(options.by);
  if (changes.tested == 0) {
    return "Nothing can be said about changes: no " + what + " has " + fixed(kFewestSamples, 0) +
           " samples in both recordings together.";
  }
  const std::string tested = counted(changes.tested, what) + " with enough samples";
  if (changes.significant == 0) {
    return "No significant change: whatever differs in the " + tested + " is noise or within " +
           words_of_share(options.tolerance) + ".";
  }
  const Change& first = changes.rows[0];
  const std::string& name = row_name(comparison.tree, options.by, first.row);
  const std::string got = profile == Profile::kCpu && options.per != Per::kShare ? " got " : " has ";
  std::string text = name + got + std::string(direction(first.difference() > 0, profile, options.per)) + ": " +
                     from_to(profile, options.per, first) + " " + unit_of(profile, options.per) + " (" +
                     factor_of(first) + ")";
  size_t more = 0, less = 0;
  for (const Change& change : changes.rows) {
    if (!change.significant || &change == &first) continue;
    (change.difference() > 0 ? more : less) += 1;
  }
  const auto others = [&](size_t count, bool slower) {
    if (count == 0) return;
    text += ", " + words_of_count(count) + (slower == (first.difference() > 0) ? " others " : " ");
    text += direction(slower, profile, options.per);
  };
  others(more, true);
  others(less, false);
  return text + ", of " + tested + ".";
}

std::string all_together(const Changes& changes, Profile profile, const ChangeOptions& options) {
  if (options.per == Per::kShare) return {};
  const Change& whole = changes.whole;
  const double percent = whole.before > 0 ? (whole.after / whole.before - 1) * 100 : 0;
  return "All samples together: " + from_to(profile, options.per, whole) + " " + unit_of(profile, options.per) + " (" +
         (percent >= 0 ? "+" : "") + fixed(percent, 1) + " %), " +
         (whole.significant ? "which is significant." : "which is noise or within the tolerance.");
}

std::string how_alike(const Comparison& comparison, double threshold) {
  const auto& covered = comparison.coverage;
  return "The calling context trees overlap by " + words_of_share(comparison.overlap[0][1]) +
         "; of the hot edges (at least " + words_of_share(threshold) + " of the hottest) A covers " +
         words_of_share(covered[0][1]) + " of B's " + words_of_count(comparison.hot_edges[1]) + ", B " +
         words_of_share(covered[1][0]) + " of A's " + words_of_count(comparison.hot_edges[0]) + ".";
}

std::string how_consistent(const Comparison& comparison, double threshold) {
  const Consistency& of = *comparison.consistency;
  return counted(comparison.tree.self.size(), "recording") + ": two of them overlap by " +
         words_of_share(of.overlap_of_pairs.median) + " (median; " + words_of_share(of.overlap_of_pairs.least) +
         " to " + words_of_share(of.overlap_of_pairs.most) + "), and their average has " +
         words_of_share(of.coverage_by_average.median) +
         " of the hot edges of each (median; T = " + words_of_share(threshold) + ").";
}

std::string warn_lengths(std::span<const Model> models, Per per) {
  const double a = in_seconds(models[0].duration), b = in_seconds(models[1].duration);
  if (per == Per::kShare || std::max(a, b) <= 1.1 * std::min(a, b)) return {};
  const std::string lasted =
      "A lasted " + words_of_time(models[0].duration) + " and B " + words_of_time(models[1].duration) + ": ";
  const bool windows = models[0].attached || models[1].attached;
  if (per == Per::kRun && windows) return lasted + "if they are not whole runs of the same work, compare --per second.";
  if (per == Per::kSecond && !windows) return lasted + "if both are whole runs of the same work, compare --per run.";
  return {};
}

std::string warn_few(const Model& model) {
  constexpr size_t kEnough = 400;  // as the report has it
  if (model.samples.events() >= kEnough) return {};
  std::string_view one = about(model.profile).events;
  one.remove_suffix(1);
  return model.file + " has only " + counted(model.samples.events(), std::string(one)) +
         ": small changes can't be told from noise.";
}

std::string warn_damaged(const Model& model) {
  return model.damaged ? model.file + " is damaged: what was intact was compared." : "";
}

}  // namespace

std::string_view outcome_of(const Change& change, Profile profile, Per per) {
  if (!change.tested) return "few";
  if (!change.significant) return "noise";
  if (change.before <= 0) return "new";
  if (change.after <= 0) return "gone";
  return direction(change.difference() > 0, profile, per);
}

std::string words_of_amount(Profile profile, Per per, double amount) {
  if (per == Per::kShare) return words_of_share(amount);
  constexpr double kMost = 9e18;
  return words_of_weight(profile, std::llround(std::clamp(amount, 0.0, kMost)));
}

std::vector<std::string> verdict_of(const Comparison& comparison, std::span<const Model> models,
                                    const CompareOptions& options) {
  const Profile profile = models[0].profile;
  std::vector<std::string> lines, warnings;
  if (comparison.changes) {
    lines.push_back(first_sentence(comparison, profile, options.changes));
    lines.push_back(all_together(*comparison.changes, profile, options.changes));
    lines.push_back(how_alike(comparison, options.threshold));
    warnings.push_back(warn_lengths(models, options.changes.per));
  } else if (comparison.consistency) {
    lines.push_back(how_consistent(comparison, options.threshold));
  }
  for (const Model& model : models) {
    warnings.push_back(warn_damaged(model));
    warnings.push_back(warn_few(model));
  }
  std::erase(lines, "");
  std::erase(warnings, "");
  for (const std::string& warning : warnings) lines.push_back("Warning: " + warning);
  return lines;
}

}  // namespace tarsier::analysis
