#include "export/collapsed.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "analysis/cct.h"
#include "export/escape.h"

namespace tarsier::exporting {
namespace {

// The weight that counts as one: of a sample, one byte, or one nanosecond in which a thread waited. Waits are no
// samples: their lengths differ by a million times.
double weight_of_one(const analysis::Model& model, const analysis::WeightedStacks& weights) {
  const analysis::ProfileInfo& info = analysis::about(model.profile);
  if (info.ends_in_class || info.is_census) return 1;
  if (weights.samples > 0 && weights.weight > 0) {
    return static_cast<double>(weights.weight) / static_cast<double>(weights.samples);
  }
  for (const analysis::Engine& engine : model.engines) {
    if (engine.interval.count > 0) return static_cast<double>(engine.interval.count);
  }
  return static_cast<double>(millis(1).count);
}

}  // namespace

Status export_collapsed(const analysis::Model& model, std::ostream& out) {
  const analysis::Selection all;
  const analysis::WeightedStacks weights = analysis::weigh_stacks(model, all);
  const double one = weight_of_one(model, weights);
  const analysis::Cct cct = analysis::build_cct(model, weights, analysis::label_methods(model, false), false,
                                                analysis::unsampled_cpu(model, all));
  std::vector<std::string> names;  // by label
  for (const std::string& name : cct.labels.names) names.push_back(visible(name, ";"));

  // One walk; `path` grows and shrinks with it, so deep trees cost no more than their lines.
  std::string path;
  uint32_t node = cct.nodes[0].first_child;
  while (node != 0 && out.good()) {
    const analysis::CctNode& current = cct.nodes[node];
    if (!path.empty()) path += ';';
    path += names[current.label];
    if (current.self > 0) {
      out << path << ' ' << std::max<int64_t>(1, std::llround(static_cast<double>(current.self) / one)) << '\n';
    }
    if (current.first_child != 0) {
      node = current.first_child;
      continue;
    }
    while (node != 0) {
      const analysis::CctNode& left = cct.nodes[node];
      const size_t length = names[left.label].size();
      path.resize(path.size() - length - (left.parent != 0 ? 1 : 0));
      if (left.next_sibling != 0) {
        node = left.next_sibling;
        break;
      }
      node = left.parent;
    }
  }
  out.flush();
  if (!out.good()) return Error{Errc::kFailed, "collapsed stacks: writing failed; is the disk full?"};
  return {};
}

}  // namespace tarsier::exporting
