// The page (ui/) with a recording inside: one file that opens from disk and talks to nobody.
#pragma once

#include <ostream>
#include <string>

#include "analysis/model.h"
#include "base/result.h"

namespace tarsier::exporting {

// All that comes from the recording goes in as base64, so no name, however hostile, is ever markup or script.
Status export_html(const analysis::Model& model, const std::string& title, std::ostream& out);

}  // namespace tarsier::exporting
