// A comparison as JSON: docs/compare.schema.json.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "export/compare.h"
#include "export/report_view.h"

namespace tarsier::exporting {

using analysis::Change;
using analysis::CompareOptions;
using analysis::Comparison;
using analysis::Model;
using Json = nlohmann::ordered_json;

namespace {

constexpr size_t kMostCallers = 200;

Json change_json(const Change& change) {
  return {{"before", change.before},
          {"after", change.after},
          {"change", change.difference()},
          {"change_ci95",
           change.tested ? Json::array({change.difference() - change.half_ci95, change.difference() + change.half_ci95})
                         : Json()},
          {"samples_before", change.samples_before},
          {"samples_after", change.samples_after},
          {"p", change.tested ? Json(change.p) : Json()},
          {"significant", change.significant}};
}

Json changes_json(const Comparison& comparison, analysis::Profile profile, const CompareOptions& options, size_t top) {
  const analysis::RowsBy by = options.changes.by;
  Json rows = Json::array();
  for (const Change& change : comparison.changes->rows) {
    if (rows.size() == top) break;
    Json row = {{"method", row_name(comparison.tree, by, change.row)},
                {"outcome", outcome_of(change, profile, options.changes.per)}};
    row.update(change_json(change));
    if (by == analysis::RowsBy::kContext) {
      Json callers = Json::array();
      const auto& nodes = comparison.tree.nodes;
      for (uint32_t i = nodes[change.row].parent; i != 0 && callers.size() < kMostCallers; i = nodes[i].parent) {
        callers.push_back(comparison.tree.name(i));
      }
      row["callers"] = std::move(callers);
    }
    rows.push_back(std::move(row));
  }
  Json unsampled = Json::array();
  for (const analysis::UnsampledChange& row : comparison.unsampled) {
    unsampled.push_back(
        {{"name", row.name}, {"before", row.before}, {"after", row.after}, {"change", row.after - row.before}});
  }
  return {{"by", name_of(by)},
          {"per", name_of(options.changes.per)},
          {"tolerance", options.changes.tolerance},
          {"same_phases", options.changes.same_phases},
          {"false_alarms", options.changes.false_alarms},
          {"tested", comparison.changes->tested},
          {"significant", comparison.changes->significant},
          {"whole", change_json(comparison.changes->whole)},
          {"rows", std::move(rows)},
          {"unsampled", std::move(unsampled)}};
}

Json quartiles_json(const analysis::Quartiles& of) {
  return {{"least", of.least}, {"first", of.first}, {"median", of.median}, {"third", of.third}, {"most", of.most}};
}

Json consistency_json(const analysis::Consistency& of) {
  return {{"overlap_of_pairs", quartiles_json(of.overlap_of_pairs)},
          {"overlap_with_average", quartiles_json(of.overlap_with_average)},
          {"coverage_of_pairs", quartiles_json(of.coverage_of_pairs)},
          {"coverage_by_average", quartiles_json(of.coverage_by_average)}};
}

Json average_json(const analysis::JointTree& tree, size_t top) {
  Json rows = Json::array();
  for (const analysis::AverageMethod& method : analysis::average_methods(tree)) {
    if (rows.size() == top) break;
    rows.push_back(
        {{"method", tree.labels[method.label]}, {"mean", method.mean}, {"least", method.least}, {"most", method.most}});
  }
  return rows;
}

}  // namespace

std::string compare_json(const Comparison& comparison, std::span<const Model> models, const CompareOptions& options,
                         size_t top) {
  const analysis::ProfileInfo& profile = analysis::about(models[0].profile);
  Json json = {{"verdict", verdict_of(comparison, models, options)},
               {"profile", profile.name},
               {"unit", profile.unit},
               {"threshold", options.threshold},
               {"overlap", comparison.overlap},
               {"coverage", comparison.coverage},
               {"hot_edges", comparison.hot_edges}};
  if (comparison.changes) json["changes"] = changes_json(comparison, models[0].profile, options, top);
  if (comparison.consistency) json["consistency"] = consistency_json(*comparison.consistency);
  if (!comparison.changes) json["average"] = average_json(comparison.tree, top);
  std::string recordings;
  for (const Model& model : models) recordings += (recordings.empty() ? "" : ",\n") + recording_json(model);
  const std::string rest = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  return "{\"recordings\":[" + recordings + "],\n" + rest.substr(1) + "\n";
}

}  // namespace tarsier::exporting
