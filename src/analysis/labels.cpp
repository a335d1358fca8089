#include "analysis/labels.h"

#include <functional>

#include "analysis/index_table.h"

namespace tarsier::analysis {

Labels label_methods(const Model& model, bool signatures) {
  Labels labels;
  labels.of_method.reserve(model.methods.size());
  IndexTable table;
  const std::hash<std::string> hash;
  for (const Method& method : model.methods) {
    std::string name = signatures ? method.name + method.descriptor : method.name;
    const auto next = static_cast<uint32_t>(labels.names.size());
    const uint32_t label = table.find_or_enter(
        hash(name), next, [&](uint32_t i) { return labels.names[i] == name; },
        [&](uint32_t i) { return hash(labels.names[i]); });
    if (label == next) labels.names.push_back(std::move(name));
    labels.of_method.push_back(label);
  }
  return labels;
}

}  // namespace tarsier::analysis
