// What was recorded and how, as JSON: the head of the page (read by ui/src/data/head.ts, which mirrors this).
#pragma once

#include <string>

#include "analysis/model.h"

namespace tarsier::exporting {

// Text that is not UTF-8 gets replacement characters.
std::string encode_flame_head(const analysis::Model& model, const std::string& title);

}  // namespace tarsier::exporting
