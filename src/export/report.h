// `tarsier report`: a recording as text for a terminal of 100 columns, or as the JSON of docs/report.schema.json.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/lock_pass.h"
#include "analysis/model.h"
#include "base/result.h"
#include "base/units.h"

namespace tarsier::exporting {

struct ReportOptions {
  std::vector<std::string>
      views{};  // of known_views(); empty: hot and tree as text, all but callers, alloc, waits and locks as JSON
  std::string thread_regex{};               // ECMAScript, found anywhere in the thread's name; empty: all threads
  std::optional<Nanos> from{}, to{};        // since the start of the recording
  double min_share = 0.01;                  // of trees: lighter nodes are left out
  int top = 20;                             // of lists: so many rows
  bool signatures = false;                  // tell overloads apart
  bool by_thread = false;                   // the tree starts with the threads
  std::vector<std::string> lock_aspects{};  // of locks: broken down by these, in this order; empty: as is usual
};

// The names that ReportOptions::views may have.
std::vector<std::string> known_views();

// What has to be asked about locks while the recording is loaded; nothing if the views don't show them.
Result<std::optional<analysis::LockQuestion>> lock_question(const ReportOptions& options);

// Both fail with Errc::kUsage if the options make no sense for this recording. The text ends with a newline and never
// contains a control character other than that; the same recording and options always give the same bytes. `locks`: the
// answer to lock_question(); without it, it is found out from the events that the model holds.
using LockAnswer = std::shared_ptr<const analysis::LockProfile>;
Result<std::string> report_text(const analysis::Model& model, const ReportOptions& options, LockAnswer locks = {});
Result<std::string> report_json(const analysis::Model& model, const ReportOptions& options, LockAnswer locks = {});

// The verdict, harmless for a terminal, one sentence each, not wrapped.
std::vector<std::string> verdict_lines(const analysis::Model& model);

}  // namespace tarsier::exporting
