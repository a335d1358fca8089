#include "export/report.h"

#include <algorithm>

#include "analysis/verdict.h"
#include "export/escape.h"
#include "export/report_view.h"
#include "export/text_table.h"

namespace tarsier::exporting {
namespace {

constexpr View kViews[] = {
    // name, text, JSON, in the text by default, in the JSON by default
    {"hot", hot_text, hot_json, true, true},
    {"tree", tree_text, tree_json, true, true},
    {"callers", callers_text, callers_json, false, false},
    {"threads", threads_text, threads_json, false, true},
    {"steal", steal_text, steal_json, false, false},
    {"quality", quality_text, quality_json, false, true},
    {"alloc", alloc_text, alloc_json, false, false},
    {"waits", waits_text, waits_json, false, false},
    {"pauses", pauses_text, pauses_json, false, true},
    {"locks", locks_text, locks_json, false, false},
};

// In the order asked for, each once.
Result<std::vector<const View*>> choose_views(const std::vector<std::string>& names, bool View::*by_default) {
  std::vector<const View*> chosen;
  for (const View& view : kViews) {
    if (names.empty() && view.*by_default) chosen.push_back(&view);
  }
  for (const std::string& name : names) {
    const auto* view =
        std::find_if(std::begin(kViews), std::end(kViews), [&](const View& v) { return v.name == name; });
    if (view == std::end(kViews)) {
      std::string known;
      for (const std::string& each : known_views()) known += (known.empty() ? "" : ", ") + each;
      return Error{Errc::kUsage, "no view is called '" + visible(name) + "'; there are: " + known};
    }
    if (std::find(chosen.begin(), chosen.end(), view) == chosen.end()) chosen.push_back(view);
  }
  return chosen;
}

Result<std::vector<analysis::LockAspect>> choose_aspects(const std::vector<std::string>& names) {
  using analysis::LockAspect;
  if (names.empty()) return std::vector{LockAspect::kClass, LockAspect::kBlockedMethod, LockAspect::kOwnerMethod};
  std::vector<LockAspect> chosen;
  for (const std::string& name : names) {
    const auto aspect = analysis::lock_aspect_named(name);
    if (!aspect) {
      std::string known;
      for (const std::string_view each : analysis::lock_aspect_names()) (known += known.empty() ? "" : ", ") += each;
      return Error{Errc::kUsage, "locks have no aspect '" + visible(name) + "'; they have: " + known};
    }
    if (std::find(chosen.begin(), chosen.end(), *aspect) == chosen.end()) chosen.push_back(*aspect);
  }
  return chosen;
}

Result<ReportContext> prepare(const analysis::Model& model, const ReportOptions& options, LockAnswer locks) {
  if (!(options.min_share >= 0 && options.min_share <= 1)) {
    return Error{Errc::kUsage, "the minimal share must be between 0 and 1 (0.01 is 1 %)"};
  }
  if (options.top < 1) return Error{Errc::kUsage, "the number of rows must be at least 1"};
  auto selection =
      analysis::Selection::make(model, {.thread_regex = options.thread_regex, .from = options.from, .to = options.to});
  if (!selection.ok()) return Error{selection.error().code, visible(selection.error().what)};
  auto aspects = choose_aspects(options.lock_aspects);
  if (!aspects.ok()) return std::move(aspects).error();
  ReportContext context{.model = model,
                        .options = options,
                        .selection = *std::move(selection),
                        .weights = {},
                        .lock_aspects = *std::move(aspects),
                        .locks = std::move(locks)};
  context.weights = analysis::weigh_stacks(model, context.selection);
  return context;
}

}  // namespace

std::vector<std::string> known_views() {
  std::vector<std::string> names;
  for (const View& view : kViews) names.emplace_back(view.name);
  return names;
}

std::vector<std::string> verdict_lines(const analysis::Model& model) {
  std::vector<std::string> lines = analysis::verdict(model);
  for (std::string& line : lines) line = visible(line);
  return lines;
}

Result<std::optional<analysis::LockQuestion>> lock_question(const ReportOptions& options) {
  std::optional<analysis::LockQuestion> question;
  if (std::find(options.views.begin(), options.views.end(), "locks") == options.views.end()) return question;
  auto aspects = choose_aspects(options.lock_aspects);
  if (!aspects.ok()) return std::move(aspects).error();
  question = {.by = *std::move(aspects),
              .filter = {.thread_regex = options.thread_regex, .from = options.from, .to = options.to},
              .signatures = options.signatures,
              .causes = true};
  return question;
}

Result<std::string> report_text(const analysis::Model& model, const ReportOptions& options, LockAnswer locks) {
  const auto views = choose_views(options.views, &View::in_text_by_default);
  if (!views.ok()) return views.error();
  const auto context = prepare(model, options, std::move(locks));
  if (!context.ok()) return context.error();

  std::string out;
  for (const std::string& line : verdict_lines(model)) append_wrapped(out, line);
  for (const View* view : *views) out += "\n" + view->text(*context);
  return out;
}

Result<std::string> report_json(const analysis::Model& model, const ReportOptions& options, LockAnswer locks) {
  const auto views = choose_views(options.views, &View::in_json_by_default);
  if (!views.ok()) return views.error();
  const auto context = prepare(model, options, std::move(locks));
  if (!context.ok()) return context.error();

  std::string out = "{\"recording\":" + recording_json(model) + ",\n\"verdict\":" + verdict_json(model);
  for (const View* view : *views) out += ",\n" + json_text(view->name) + ":" + view->json(*context);
  return out + "}\n";
}

}  // namespace tarsier::exporting
