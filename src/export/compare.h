// `tarsier compare`: two recordings or more, as text for a terminal of 100 columns, or as the JSON of
// docs/compare.schema.json.
#pragma once

#include <span>
#include <string>

#include "analysis/comparison.h"
#include "analysis/model.h"

namespace tarsier::exporting {

// `top`: so many rows of a list. The text ends with a newline and contains no control character other than that.
std::string compare_text(const analysis::Comparison& comparison, std::span<const analysis::Model> models,
                         const analysis::CompareOptions& options, size_t top);
std::string compare_json(const analysis::Comparison& comparison, std::span<const analysis::Model> models,
                         const analysis::CompareOptions& options, size_t top);

}  // namespace tarsier::exporting
