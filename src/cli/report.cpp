// tarsier report
#include "export/report.h"

#include "cli/command.h"
#include "cli/console.h"
#include "cli/recording_file.h"

namespace tarsier::cli {
namespace {

constexpr Option kOptions[] = {
    {.name = "view",
     .kind = Kind::kWords,
     .value = "V,..",
     .help = "what to show",
     .otherwise = "hot,tree; with --json all but callers, alloc, waits and locks",
     .allowed = "hot,tree,threads,steal,quality,callers,alloc,waits,pauses,locks"},
    {.name = "by",
     .kind = Kind::kWords,
     .value = "ASPECT,..",
     .fallback = "class,blocked-method,owner-method",
     .help = "of locks: what to break them down by",
     .allowed = "group,class,object,blocked-thread,blocked-method,blocked-chain,owner-thread,owner-method,owner-chain,"
                "after-wait"},
    {.name = "json", .help = "print JSON (schema: docs/report.schema.json)"},
    kWeightOption,
    kThreadOption,
    kFromOption,
    kToOption,
    {.name = "min-share",
     .kind = Kind::kShare,
     .value = "X",
     .fallback = "1%",
     .help = "leave lighter nodes out of trees"},
    kTopOption,
    kSignaturesOption,
    {.name = "by-thread", .help = "let the tree start with the threads"},
};
constexpr CommandSpec kSpec = {
    .name = "report",
    .summary = "where the time went, as text or JSON",
    .operands = "FILE",
    .max_operands = 1,
    .operand = Operand::kRecording,
    .options = kOptions,
    .notes =
        "FILE is a recording of tarsier, of JFR itself or of another tool that writes JFR files.\n"
        "cpu: CPU time; wall: time, also of waiting threads; alloc: bytes, with the class as innermost frame; waits: "
        "the\n"
        "time of waits; locks: time that threads were blocked by locks, owners: the same time by who held the lock, "
        "both\n"
        "with the lock's class as innermost frame. The views alloc and waits are about those whatever --weight says.\n"
        "locks: who was blocked by a lock and who held it meanwhile, for how long; with --by group also waits for\n"
        "conditions, queues, joins and the like. docs/locks.md says how to read it.\n"
        "Of a damaged recording everything intact is shown; the exit code is then 5.",
};

exporting::ReportOptions report_options(const Arguments& arguments) {
  exporting::ReportOptions options;
  options.views = arguments.words("view");
  options.thread_regex = arguments.text("thread");
  if (arguments.has("from")) options.from = arguments.duration("from");
  if (arguments.has("to")) options.to = arguments.duration("to");
  options.min_share = arguments.share("min-share");
  options.top = static_cast<int>(arguments.number("top"));
  options.signatures = arguments.has("signatures");
  options.by_thread = arguments.has("by-thread");
  options.lock_aspects = arguments.words("by");
  return options;
}

int run_report(const Arguments& arguments) {
  const exporting::ReportOptions options = report_options(arguments);
  auto question = exporting::lock_question(options);
  if (!question) return fail(question.error());
  analysis::LockPass locks(*std::move(question));
  // Who asks for nothing but the view `locks` gets from these profiles what the verdict says.
  const bool only_locks = options.views == std::vector<std::string>{"locks"} && !arguments.has("weight");
  locks.keep_samples({.from = options.from, .to = options.to},
                     only_locks ? analysis::LockSampleDetail::kSums : analysis::LockSampleDetail::kAll);
  const auto model = load_recording_operand("report", arguments, &locks);
  if (!model) return fail(model.error());
  const auto text = arguments.has("json") ? exporting::report_json(*model, options, locks.profile())
                                          : exporting::report_text(*model, options, locks.profile());
  if (!text) return fail(text.error());
  if (!print(*text)) return 1;
  return tell_problems(*model);
}

}  // namespace

const Command kReport = {kSpec, run_report};

}  // namespace tarsier::cli
