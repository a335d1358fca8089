// The part `timeline` of the page's data: what the machine and the JVM as a whole did (docs/page.md).
#pragma once

#include <optional>
#include <string>

#include "analysis/model.h"
#include "export/page_time.h"

namespace tarsier::exporting {

constexpr size_t kMostPagePauses = 100'000;
constexpr size_t kMostPageSafepoints = 100'000;  // intervals of about a second

// Nothing if the recording does not tell.
std::optional<std::string> encode_timeline(const analysis::Model& model, const PageTime& time);

}  // namespace tarsier::exporting
