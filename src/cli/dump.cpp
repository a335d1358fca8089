// tarsier dump
#include "attach/thread_dump.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/dump_view.h"
#include "cli/target.h"
#include "dump/parse.h"

namespace tarsier::cli {
namespace {

constexpr Option kOptions[] = {
    {.name = "json", .help = "print JSON (schema: docs/dump.schema.json)"},
};
constexpr CommandSpec kSpec = {
    .name = "dump",
    .summary = "all threads of a JVM with their stacks and locks, and its deadlocks",
    .operands = "[PID | NAME]",
    .max_operands = 1,
    .operand = Operand::kJvm,
    .options = kOptions,
    .notes =
        "The JVM makes the dump itself, and all its threads stand still meanwhile. Nothing is loaded into it.\n"
        "A deadlock is a circle of threads of which each waits, without an end, for a monitor or a lock of\n"
        "java.util.concurrent that the next one holds. Virtual threads, and what they hold, are not shown.\n"
        "The exit code is 0 whether there is a deadlock or not.",
};

// As long as people wait for a JVM that is busy collecting garbage.
constexpr Nanos kLongestAnswer = seconds(60);

int run_dump(const Arguments& arguments) {
  const auto jvm = find_target(arguments.operands.empty() ? "" : arguments.operands[0]);
  if (!jvm) return fail(jvm.error());
  if (jvm->mute) return fail(*jvm->mute);
  const auto text = attach::take_thread_dump(*jvm, {}, kLongestAnswer);
  if (!text) return fail(text.error());
  auto parsed = dump::parse(*text);
  if (!parsed) return fail(parsed.error());
  if (parsed->missing != 0) {
    say(std::to_string(parsed->missing) + " threads are missing: the JVM's text about them was not understood");
  }
  const DumpView view(std::move(*parsed));
  return print(arguments.has("json") ? json_of(view, *jvm) : text_of(view, *jvm)) ? 0 : 1;
}

}  // namespace

const Command kDump = {kSpec, run_dump};

}  // namespace tarsier::cli
