// A view of the report: a name and what it looks like as text and as JSON. Adding one: two functions and a line in the
// table in report.cpp, its part of docs/report.schema.json.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/cct.h"
#include "analysis/lock_aspects.h"
#include "analysis/model.h"
#include "analysis/selection.h"
#include "export/report.h"

namespace tarsier::exporting {

// What every view works on.
struct ReportContext {
  const analysis::Model& model;
  const ReportOptions& options;
  analysis::Selection selection;
  analysis::WeightedStacks weights;  // of the selection, not split by thread
  std::vector<analysis::LockAspect> lock_aspects;
  LockAnswer locks;

  [[nodiscard]] analysis::Labels labels() const { return analysis::label_methods(model, options.signatures); }
  [[nodiscard]] std::map<analysis::ThreadKind, Nanos> unsampled() const {
    return analysis::unsampled_cpu(model, selection);
  }
  // With what was not sampled, not split by thread.
  [[nodiscard]] analysis::Cct tree() const { return analysis::build_cct(model, weights, labels(), false, unsampled()); }
};

using Render = std::string (*)(const ReportContext&);
struct View {
  std::string_view name;
  Render text;  // starts with its heading, ends with a newline
  Render json;  // one value
  bool in_text_by_default;
  bool in_json_by_default;
};

std::string hot_text(const ReportContext& context);
std::string hot_json(const ReportContext& context);
std::string tree_text(const ReportContext& context);
std::string tree_json(const ReportContext& context);
std::string callers_text(const ReportContext& context);
std::string callers_json(const ReportContext& context);
std::string threads_text(const ReportContext& context);
std::string threads_json(const ReportContext& context);
std::string steal_text(const ReportContext& context);
std::string steal_json(const ReportContext& context);
std::string quality_text(const ReportContext& context);
std::string quality_json(const ReportContext& context);
std::string alloc_text(const ReportContext& context);
std::string alloc_json(const ReportContext& context);
std::string waits_text(const ReportContext& context);
std::string waits_json(const ReportContext& context);
std::string pauses_text(const ReportContext& context);
std::string pauses_json(const ReportContext& context);
std::string locks_text(const ReportContext& context);
std::string locks_json(const ReportContext& context);

// What is not known of locks, and what would bring it; empty if nothing is missing.
std::string missing_owners_text(const analysis::Model& model);

// "12 % of 3.5 s of CPU time": the whole that the shares of a view are of.
std::string whole_of(const ReportContext& context, int64_t weight);

// The "recording" and "verdict" of the JSON.
std::string recording_json(const analysis::Model& model);
std::string verdict_json(const analysis::Model& model);
std::string json_text(std::string_view text);  // quoted; bytes that are not UTF-8 become U+FFFD

}  // namespace tarsier::exporting
