// The page (ui/) with a recording inside: one file that opens from disk and talks to nobody.
#pragma once

#include <ostream>
#include <string>

#include "analysis/changes.h"
#include "analysis/model.h"
#include "base/result.h"
#include "export/page_parts.h"

namespace tarsier::exporting {

// All that comes from the recording goes in as base64, so no name, however hostile, is ever markup or script.
// `parts`: those whose question was asked while the model was loaded; of a large recording there are no locks else.
Status export_html(const analysis::Model& model, const std::string& title, std::ostream& out,
                   const PageParts& parts = PageParts());

// How it differs from another recording: a differential flame graph, in which frames that are gone are there, too.
Status export_html_against(const analysis::Model& model, const analysis::Model& before, analysis::Per per,
                           const std::string& title, std::ostream& out);

}  // namespace tarsier::exporting
