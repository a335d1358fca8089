// The part of the view `locks` below its tree: root causes, the worst locks, barriers, what is missing.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "analysis/blocked_times.h"
#include "analysis/lock_code.h"
#include "export/report_view.h"

namespace tarsier::exporting {

std::string lock_causes_text(const ReportContext& context, const analysis::LockCode& code,
                             const analysis::AspectKeys& keys, const analysis::BlockedTimes& times);
// Adds its keys to the view's object.
void add_lock_causes(nlohmann::ordered_json& locks, const ReportContext& context, const analysis::LockCode& code,
                     const analysis::AspectKeys& keys, const analysis::BlockedTimes& times);

}  // namespace tarsier::exporting
