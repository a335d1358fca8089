// One refresh of `tarsier top --json`, docs/top.schema.json.
#pragma once

#include <string>

#include "analysis/top_model.h"
#include "cli/top_screen.h"
#include "cli/top_state.h"

namespace tarsier::cli {

// One line, with at most as many rows of each table.
std::string top_json(const analysis::TopSnapshot& snapshot, const TopTitle& title, const TopState& state, size_t rows);

}  // namespace tarsier::cli
