// What was recorded and how, as JSON: the head of the page (read by ui/src/data/head.ts, which mirrors this).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/model.h"

namespace tarsier::exporting {

// What a recording is compared with.
struct FlameAgainst {
  const analysis::Model& model;
  std::string per;                   // second, run or share
  std::vector<std::string> verdict;  // in place of the recording's own
};

// Text that is not UTF-8 gets replacement characters.
std::string encode_flame_head(const analysis::Model& model, const std::string& title,
                              const std::optional<FlameAgainst>& against = std::nullopt);

}  // namespace tarsier::exporting
