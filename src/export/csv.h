// Lock contentions as CSV (RFC 4180): one row for each piece of a contention. See docs/locks.md for the columns.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include "analysis/model.h"
#include "base/result.h"

namespace tarsier::exporting {

Status export_csv(const analysis::Model& model, std::ostream& out);

// Quoted if need be. Names are hostile: what is not printable becomes visible, and what a spreadsheet would take for a
// formula gets an apostrophe in front.
std::string csv_cell(std::string_view text);

}  // namespace tarsier::exporting
