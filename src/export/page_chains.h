// Call chains of contentions and waits as the page has them: methods by name only, and shared outer parts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/index_table.h"
#include "analysis/labels.h"
#include "analysis/model.h"
#include "export/columns.h"

namespace tarsier::exporting {

class PageChains {
 public:
  explicit PageChains(const analysis::Model& model);

  // 0 for no stack. Stacks that differ only in lines or in how they were compiled are one chain.
  uint32_t chain_of(analysis::StackIndex stack);
  // 1 + label of the stack's innermost frame, 0 for none.
  uint32_t method_of(analysis::StackIndex stack) { return nodes_[chain_of(stack)].label_and_1; }

  // The columns labels, chain_parent and chain_label.
  void put(ColumnWriter& out) const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Node {
    uint32_t parent = 0;
    uint32_t label_and_1 = 0;
  };
  uint32_t label_of(analysis::MethodIndex method);

  const analysis::Model& model_;
  analysis::Labels labels_;
  std::vector<std::string> names_;  // of labels that chains have
  std::vector<uint32_t> name_of_;   // by label: index into names_, kNone: not used yet
  std::vector<uint32_t> of_stack_;  // by stack; kNone: not asked for yet
  std::vector<uint32_t> path_;      // reused
  std::vector<Node> nodes_;         // 0: empty; every other one after its parent
  analysis::IndexTable table_;
};

}  // namespace tarsier::exporting
