#include "analysis/changes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/student_t.h"

namespace tarsier::analysis {
namespace {

// One recording, with what its weights have to be multiplied by.
struct Side {
  TimeSlices time;
  RowWeights rows;
  std::vector<Slices> slices;  // of the rows that are tested
  Slices all{};
  double weight = 0;   // of all samples
  double squares = 0;  // of all their weights
  double factor = 1;
};

// What one recording says about one row.
struct Estimate {
  double value = 0;
  double variance = 0;
  double freedom = 1;
};

Side make_side(const Model& model, const JointTree& tree, size_t recording, const ContextRows& rows, Per per) {
  const TimeSlices time(model, per == Per::kSecond ? SliceClock::kWall : SliceClock::kSamples);
  Side side{
      .time = time, .rows = weigh_rows(model, tree, recording, rows), .slices = {}, .all = slice_all(model, time)};
  for (const Sample& sample : model.samples) {
    const auto weight = static_cast<double>(sample.weight);
    side.weight += weight;
    side.squares += weight * weight;
  }
  if (per == Per::kSecond) side.factor = 1 / in_seconds(model.duration);
  if (per == Per::kShare) side.factor = 1 / side.weight;
  return side;
}

// `squares`: of the weights of the samples that are the row's.
Estimate estimate(const Side& side, Slices slices, double weight, double squares, const ChangeOptions& options) {
  const Per per = options.per;
  const double share = weight / side.weight;
  double of_counting = squares;
  if (per == Per::kShare) {
    // More of all is not more of this: what counts is by how much the row departs from its share.
    for (size_t i = 0; i < kSlices; ++i) slices[i] -= share * side.all[i];
    of_counting = squares * (1 - 2 * share) + share * share * side.squares;
  }
  // None seen does not mean that none can be: one might as well have been.
  const double one_sample = side.squares / side.weight;
  of_counting = std::max(of_counting, one_sample * one_sample);
  const Spread spread = options.same_phases ? spread_of_job(slices) : spread_of_window(slices);
  return {.value = weight * side.factor,
          .variance = std::max(of_counting, spread.variance) * side.factor * side.factor,
          .freedom = spread.freedom};
}

Estimate estimate_row(const Side& side, uint32_t row, size_t tested, const ChangeOptions& options) {
  return estimate(side, side.slices[tested], side.rows.weight[row], side.rows.squares[row], options);
}

Change weigh_change(const Estimate& before, const Estimate& after, double tolerance) {
  Change change;
  change.before = before.value;
  change.after = after.value;
  const double variance = before.variance + after.variance;
  change.error = std::sqrt(variance);
  // Welch and Satterthwaite's
  const double freedom =
      variance * variance /
      (before.variance * before.variance / before.freedom + after.variance * after.variance / after.freedom);
  change.half_ci95 = t_of_95(freedom) * change.error;
  const double beyond = std::abs(change.difference()) - tolerance * std::max(before.value, after.value);
  change.tested = true;
  change.p = beyond > 0 ? two_sided_p(beyond / change.error, freedom) : 1;
  return change;
}

void sort_and_count(Changes& changes, const JointTree& tree, RowsBy by) {
  const auto name = [&](const Change& change) -> const std::string& { return row_name(tree, by, change.row); };
  std::sort(changes.rows.begin(), changes.rows.end(), [&](const Change& a, const Change& b) {
    if (a.significant != b.significant) return a.significant;
    if (a.tested != b.tested) return a.tested;
    const double size_a = std::abs(a.difference()), size_b = std::abs(b.difference());
    if (size_a != size_b) return size_a > size_b;
    return name(a) != name(b) ? name(a) < name(b) : a.row < b.row;
  });
  for (const Change& change : changes.rows) {
    changes.tested += change.tested ? 1 : 0;
    changes.significant += change.significant ? 1 : 0;
  }
}

}  // namespace

std::string_view name_of(RowsBy by) {
  return by == RowsBy::kSelf ? "self" : by == RowsBy::kTotal ? "total" : "context";
}

std::string_view name_of(Per per) {
  return per == Per::kSecond ? "second" : per == Per::kRun ? "run" : "share";
}

const std::string& row_name(const JointTree& tree, RowsBy by, uint32_t row) {
  return by == RowsBy::kContext ? tree.name(row) : tree.labels[row];
}

std::vector<double> corrected_for_number(const std::vector<double>& p_values) {
  std::vector<size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return p_values[a] > p_values[b]; });
  std::vector<double> corrected(p_values.size());
  const auto count = static_cast<double>(p_values.size());
  double least = 1;
  for (size_t i = 0; i < order.size(); ++i) {
    least = std::min(least, p_values[order[i]] * count / (count - static_cast<double>(i)));
    corrected[order[i]] = least;
  }
  return corrected;
}

Changes find_changes(const Model& before, const Model& after, const JointTree& tree, const ChangeOptions& options) {
  const ContextRows rows(tree, options.by);
  Side a = make_side(before, tree, 0, rows, options.per);
  Side b = make_side(after, tree, 1, rows, options.per);

  std::vector<uint32_t> wanted;
  for (uint32_t row = 0; row < rows.size(); ++row) {
    if (a.rows.samples[row] + b.rows.samples[row] >= kFewestSamples) wanted.push_back(row);
  }
  a.slices = slice_rows(before, tree, 0, rows, wanted, a.time);
  b.slices = slice_rows(after, tree, 1, rows, wanted, b.time);

  Changes changes;
  std::vector<double> p_values;
  size_t next = 0;
  for (uint32_t row = 0; row < rows.size(); ++row) {
    if (a.rows.samples[row] + b.rows.samples[row] == 0) continue;
    Change change;
    if (next < wanted.size() && wanted[next] == row) {
      change =
          weigh_change(estimate_row(a, row, next, options), estimate_row(b, row, next, options), options.tolerance);
      p_values.push_back(change.p);
      ++next;
    } else {
      change.before = a.rows.weight[row] * a.factor;
      change.after = b.rows.weight[row] * b.factor;
    }
    change.row = row;
    change.samples_before = static_cast<uint64_t>(a.rows.samples[row]);
    change.samples_after = static_cast<uint64_t>(b.rows.samples[row]);
    changes.rows.push_back(change);
  }
  const std::vector<double> corrected = corrected_for_number(p_values);
  next = 0;
  for (Change& change : changes.rows) {
    if (!change.tested) continue;
    change.p = corrected[next++];
    change.significant = change.p <= options.false_alarms;
  }
  sort_and_count(changes, tree, options.by);

  changes.whole = weigh_change(estimate(a, a.all, a.weight, a.squares, options),
                               estimate(b, b.all, b.weight, b.squares, options), options.tolerance);
  changes.whole.samples_before = before.samples.events();
  changes.whole.samples_after = after.samples.events();
  changes.whole.significant = changes.whole.tested && changes.whole.p <= options.false_alarms;
  return changes;
}

}  // namespace tarsier::analysis
