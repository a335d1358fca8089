// Who has ended the waits of a row of the view `waits`, as text and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/labels.h"
#include "analysis/model.h"
#include "analysis/wakeups.h"

namespace tarsier::exporting {

// False: whoever found the waits could not see it.
bool wakers_recorded(const analysis::Model& model);

// The calls of a chain from the `first` on, as many as fit.
std::string callers_text(const std::vector<uint32_t>& chain, size_t first, const analysis::Labels& labels,
                         size_t columns);
// Lines below the row.
std::string wakers_text(const analysis::Model& model, const analysis::WokenRow& row, const analysis::Labels& labels);
// What is missing, and what would bring it; empty if nothing is.
std::string missing_wakers_text(const analysis::Model& model);

// woken_by, waker, waker_chain and hops.
void add_wakers(nlohmann::ordered_json& json, const analysis::Model& model, const analysis::WokenRow& row,
                const analysis::Labels& labels);

}  // namespace tarsier::exporting
