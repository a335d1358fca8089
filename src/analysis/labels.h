// What a row or node is called, and which methods are one: overloads share a name unless signatures are asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/model.h"

namespace tarsier::analysis {

struct Labels {
  std::vector<std::string> names;
  std::vector<uint32_t> of_method;  // by MethodIndex

  [[nodiscard]] uint32_t of(const StackNode& node) const { return of_method[node.method.value]; }
  // A label that stands for no method: [GC], a thread. Not merged with others of that name.
  uint32_t add(std::string name) {
    names.push_back(std::move(name));
    return static_cast<uint32_t>(names.size() - 1);
  }
};

Labels label_methods(const Model& model, bool signatures);

}  // namespace tarsier::analysis
