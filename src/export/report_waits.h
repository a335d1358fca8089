// The account of threads' times, for the views that show it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "analysis/model.h"
#include "export/report_view.h"

namespace tarsier::exporting {

// A table with its heading and an empty line before it; empty if the recording has no such account.
std::string times_text(const ReportContext& context);
nlohmann::ordered_json time_json(const analysis::ThreadTime& time);

}  // namespace tarsier::exporting
