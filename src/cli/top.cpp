// tarsier top
#include <cstdlib>

#include "cli/agent_call.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/install.h"
#include "cli/recording_output.h"
#include "cli/session.h"
#include "cli/signals.h"
#include "cli/target.h"
#include "cli/top_view.h"
#include "export/escape.h"

namespace tarsier::cli {
namespace {

constexpr Option kOptions[] = {
    {.name = "interval",
     .letter = 'i',
     .kind = Kind::kDuration,
     .value = "TIME",
     .fallback = "10ms",
     .help = "CPU time between samples",
     .min = 100'000},
    {.name = "alloc",
     .kind = Kind::kSize,
     .value = "BYTES",
     .fallback = "4m",
     .help = "sample who allocates once in BYTES",
     .min = 1024,
     .max = control::kMaxAllocInterval.count},
    {.name = "lock",
     .kind = Kind::kWord,
     .value = "SIDE",
     .fallback = "owner",
     .help = "who is blocked: by monitors (blocked), also by locks of java.util.concurrent (owner), which hooks "
             "functions of the JVM; without this option: blocked",
     .allowed = "blocked,owner",
     .bare = true},
    {.name = "duration",
     .letter = 'd',
     .kind = Kind::kDuration,
     .value = "TIME",
     .help = "end after this time",
     .otherwise = "when somebody quits or the JVM ends",
     .min = 1'000'000'000},
    {.name = "refresh",
     .letter = 'r',
     .kind = Kind::kDuration,
     .value = "TIME",
     .fallback = "1s",
     .help = "show new figures every TIME",
     .min = 1'000'000'000},
    {.name = "sort",
     .letter = 's',
     .kind = Kind::kWord,
     .value = "COLUMN",
     .fallback = "cpu",
     .help = "the order of threads",
     .allowed = "cpu,system,steal,queue,waiting,blocked,alloc,name"},
    {.name = "batch",
     .letter = 'b',
     .help = "print text, one screen after another; so it is where there is no terminal"},
    {.name = "count",
     .letter = 'n',
     .kind = Kind::kNumber,
     .value = "N",
     .help = "end after N refreshes",
     .otherwise = "go on",
     .min = 1,
     .max = 1'000'000'000},
    {.name = "rows",
     .kind = Kind::kNumber,
     .value = "N",
     .fallback = "20",
     .help = "with --batch and --json: of each table",
     .min = 1,
     .max = 100'000},
    {.name = "json", .help = "print a JSON object for each refresh (schema: docs/top.schema.json)"},
};
constexpr CommandSpec kSpec = {
    .name = "top",
    .summary = "the threads and hot methods of a running JVM, on a screen",
    .operands = "[PID | NAME]",
    .max_operands = 1,
    .operand = Operand::kJvm,
    .options = kOptions,
    .notes =
        "NAME is a part of the JVM's main class or jar. If only one JVM runs, it need not be named.\n"
        "Keys: q quits, ? shows the others and what the columns mean; also docs/top.md.\n"
        "Nothing is written, and nothing in the JVM's code is changed unless --lock asks for it.\n"
        "NO_COLOR is honoured. Times: 10ms, 1s, 2m. Sizes: 512k, 4m.",
};

control::SessionOptions session_options(const Arguments& arguments) {
  control::SessionOptions options;
  options.cpu = true;
  options.alloc = true;
  options.alloc_interval = arguments.size("alloc");
  options.lock = arguments.has("lock") ? arguments.text("lock") : "blocked";
  options.interval = arguments.duration("interval");
  options.duration = arguments.duration("duration");
  // At each look the constants of the current chunk are read: few of them, for a look that costs little.
  options.memory = Bytes(32 << 20);
  options.chunk_size = Bytes(16 << 20);
  options.chunk_age = seconds(60);
  return options;
}

TopOptions view_options(const Arguments& arguments) {
  TopOptions options;
  options.output = arguments.has("json")                                ? TopOutput::kJson
                   : arguments.has("batch") || !TopTerminal::is_there() ? TopOutput::kText
                                                                        : TopOutput::kScreen;
  options.count = static_cast<uint64_t>(arguments.number("count"));
  options.rows = static_cast<size_t>(arguments.number("rows"));
  options.duration = arguments.duration("duration");
  options.state.refresh = arguments.duration("refresh");
  options.state.threads_by = column_of_word(arguments.text("sort")).value_or(TopColumn::kCpu);
  return options;
}

int run_top(const Arguments& arguments) {
  auto signals = Signals::take();
  if (!signals) return fail(signals.error());
  const auto jvm = find_target(arguments.operands.empty() ? "" : arguments.operands[0]);
  if (!jvm) return fail(jvm.error());
  if (jvm->obstacle) return fail_with(*jvm->obstacle, *jvm);
  const auto library = find_agent_library();
  if (!library) return fail(library.error());
  auto output = RecordingOutput::nameless();
  if (!output) return fail(output.error());
  TopView view(output->file().fd(), *jvm, view_options(arguments));

  auto call = call_agent(*jvm, *library, *signals);
  if (!call) return fail_with(call.error(), *jvm);
  const std::string announcement = "watching JVM " + std::to_string(jvm->pid) + " (" +
                                   (jvm->main.empty() ? "?" : exporting::visible(jvm->main)) + "); Ctrl-C ends it";
  const auto outcome =
      Session(call->channel, *signals, output->file(), nullptr, session_options(arguments), announcement, &view).run();
  if (!outcome) return fail_with(outcome.error(), *jvm);
  return view.conclude(*outcome, *signals);
}

}  // namespace

const Command kTop = {kSpec, run_top};

}  // namespace tarsier::cli
