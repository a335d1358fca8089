// tarsier compare
#include "export/compare.h"

#include <algorithm>

#include "analysis/lock_pass.h"
#include "analysis/selection.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/recording_file.h"

namespace tarsier::cli {
namespace {

using analysis::Model;

constexpr Option kOptions[] = {
    {.name = "by",
     .kind = Kind::kWord,
     .value = "ROWS",
     .fallback = "self",
     .help = "what is compared: methods by what they do themselves, with all that they call, or single contexts",
     .allowed = "self,total,context"},
    {.name = "per",
     .kind = Kind::kWord,
     .value = "SCALE",
     .fallback = "second",
     .help = "on which scale: time per second, of the whole run, as a share",
     .allowed = "second,run,share"},
    {.name = "json", .help = "print JSON (schema: docs/compare.schema.json)"},
    kTopOption,
    {.name = "tolerance",
     .kind = Kind::kShare,
     .value = "X",
     .fallback = "5%",
     .help = "changes of a row of up to this are taken for none"},
    {.name = "false-alarms",
     .kind = Kind::kShare,
     .value = "X",
     .fallback = "1%",
     .help = "how much of what is called a change may be noise"},
    {.name = "same-phases", .help = "both go through the same phases, which then are no noise (a job without warm-up)"},
    {.name = "threshold",
     .kind = Kind::kShare,
     .value = "T",
     .fallback = "10%",
     .help = "edges of at least this share of the hottest one are hot"},
    {.name = "weight",
     .kind = Kind::kWord,
     .value = "KIND",
     .fallback = "cpu",
     .help = "which samples, weighted by what",
     .allowed = "cpu,corrected,wall,alloc,waits,locks,owners"},
    kThreadOption,
    kFromOption,
    kToOption,
    kSignaturesOption,
};
constexpr CommandSpec kSpec = {
    .name = "compare",
    .summary = "what got slower or faster between recordings, and how alike they are",
    .operands = "A.jfr B.jfr [MORE..]",
    .max_operands = 100,
    .operand = Operand::kRecording,
    .options = kOptions,
    .notes =
        "Of two recordings: which methods changed from A to B, and whether that is more than noise; how far their\n"
        "calling context trees overlap, and which hot edges they share. Of more: the same of every two, how "
        "consistent\n"
        "they are, and their average. Names of generated classes (lambdas, proxies, accessors) are compared without\n"
        "their numbers. docs/compare.md tells how to read it. tarsier export B.jfr --to html --against A.jfr draws it.",
};

analysis::CompareOptions compare_options(const Arguments& arguments) {
  analysis::CompareOptions options;
  options.changes.by = analysis::value_named(arguments.text("by"), analysis::kRows);
  options.changes.per = analysis::value_named(arguments.text("per"), analysis::kScales);
  options.changes.tolerance = arguments.share("tolerance");
  options.changes.false_alarms = arguments.share("false-alarms");
  options.changes.same_phases = arguments.has("same-phases");
  options.threshold = arguments.share("threshold");
  options.signatures = arguments.has("signatures");
  return options;
}

Result<Model> load_one(const std::string& file, const Arguments& arguments) {
  analysis::Filter filter{.thread_regex = arguments.text("thread")};
  if (arguments.has("from")) filter.from = arguments.duration("from");
  if (arguments.has("to")) filter.to = arguments.duration("to");
  analysis::LockPass locks;
  locks.keep_samples(filter);
  auto model = load_recording(file, arguments.text("weight"), &locks);
  if (!model) return model;
  if (Status narrowed = analysis::narrow(*model, filter); !narrowed) return std::move(narrowed).error().in(file);
  return model;
}

int run_compare(const Arguments& arguments) {
  const std::span<const std::string> files = arguments.operands;
  if (files.size() < 2) {
    return fail(Error{Errc::kUsage, std::string(files.empty() ? "which recordings?" : "compare it with what?") +
                                        " tarsier compare A.jfr B.jfr"});
  }
  if (Status different = check_different(files); !different) return fail(different.error());
  std::vector<Model> models;
  for (const std::string& file : files) {
    auto model = load_one(file, arguments);
    if (!model) return fail(model.error());
    models.push_back(*std::move(model));
  }
  const analysis::CompareOptions options = compare_options(arguments);
  const auto comparison = analysis::compare(models, options);
  if (!comparison) return fail(comparison.error());
  const auto top = static_cast<size_t>(arguments.number("top"));
  if (!print(arguments.has("json") ? exporting::compare_json(*comparison, models, options, top)
                                   : exporting::compare_text(*comparison, models, options, top))) {
    return 1;
  }
  int code = 0;
  for (Model& model : models) {
    for (std::string& problem : model.problems) problem.insert(0, model.file + ": ");
    code = std::max(code, tell_problems(model));
  }
  return code;
}

}  // namespace

const Command kCompare = {kSpec, run_compare};

}  // namespace tarsier::cli
