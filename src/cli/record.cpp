// tarsier record
#include <poll.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

#include "analysis/lock_pass.h"
#include "analysis/model.h"
#include "attach/java_command.h"
#include "base/parse.h"
#include "cli/agent_call.h"
#include "cli/child.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/control_socket.h"
#include "cli/install.h"
#include "cli/live_view.h"
#include "cli/recording_output.h"
#include "cli/session.h"
#include "cli/signals.h"
#include "cli/target.h"
#include "export/escape.h"
#include "export/report.h"

namespace tarsier::cli {
namespace {

constexpr Option kOptions[] = {
    {.name = "cpu", .help = "sample where CPU time goes"},
    {.name = "alloc",
     .kind = Kind::kSize,
     .value = "BYTES",
     .fallback = "512k",
     .help = "sample who allocates what, once in BYTES; 0: every object",
     .max = control::kMaxAllocInterval.count,
     .bare = true},
    {.name = "waits",
     .kind = Kind::kRange,
     .value = "MIN[,MAX]",
     .fallback = "100us",
     .help = "find out who waits, for how long and where; waits shorter than MIN or longer than MAX are only summed up",
     .min = 1'000,
     .bare = true},
    {.name = "waits-by",
     .kind = Kind::kWord,
     .value = "NAME",
     .help = "how waits are found",
     .otherwise = "ebpf if it works",
     .allowed = "ebpf,watcher"},
    {.name = "waits-budget",
     .kind = Kind::kShare,
     .value = "SHARE",
     .fallback = "1%",
     .help = "by ebpf: what stacks of waits may take of the program's CPU time; if there are too many waits, only "
             "some get a stack, by chance, and the others are counted; 0: all, whatever it takes"},
    {.name = "lock",
     .kind = Kind::kWord,
     .value = "SIDE",
     .fallback = "owner",
     .help = "record who is blocked by locks (blocked), and who holds them (owner), which hooks functions of the JVM",
     .allowed = "blocked,owner",
     .bare = true},
    {.name = "lock-detail",
     .kind = Kind::kWords,
     .value = "CLASSES",
     .help = "--lock, and tell all who hold locks that several may hold: of ReentrantReadWriteLock, Semaphore, "
             "StampedLock, CountDownLatch, which changes these classes until the recording ends",
     .allowed = "rw,semaphore,stamped,latch"},
    {.name = "no-hooks", .help = "change nothing in the JVM's code, whatever is asked for"},
    {.name = "engine",
     .kind = Kind::kWord,
     .value = "NAME",
     .help = "how stacks are walked",
     .otherwise = "the best that works",
     .allowed = "fragment,agct,handshake,safepoint"},
    {.name = "threads",
     .kind = Kind::kText,
     .value = "REGEX",
     .help = "sample only threads with such names (engines handshake and safepoint)",
     .otherwise = "all threads"},
    {.name = "clock",
     .kind = Kind::kWord,
     .value = "NAME",
     .help = "what triggers samples",
     .otherwise =
         "with --waits ebpf if that works; else perf; where that is forbidden cputimer, or timekeeper for finer "
         "intervals",
     .allowed = "perf,cputimer,timekeeper,ebpf,perf-rings,wall,itimer,real"},
    {.name = "interval",
     .letter = 'i',
     .kind = Kind::kDuration,
     .value = "TIME",
     .help = "time between samples: of CPU time, with --clock wall of time",
     .otherwise = "1ms, or the finest that the clock can do; with --clock wall 10ms",
     .min = 10'000},
    {.name = "duration",
     .letter = 'd',
     .kind = Kind::kDuration,
     .value = "TIME",
     .help = "stop after this time",
     .otherwise = "at Ctrl-C or when the JVM ends",
     .min = 1'000'000},
    {.name = "counters",
     .kind = Kind::kText,
     .value = "EVENTS",
     .fallback = control::kDefaultCounters,
     .help = "count events of the processor or the kernel in every thread, by the names that perf has for them: "
             "cycles, instructions, context-switches, rHEX, GROUP:NAME",
     .bare = true},
    {.name = "account",
     .kind = Kind::kDuration,
     .value = "TIME",
     .fallback = "1s",
     .help = "how often, 10ms to 1s, it is asked which threads have used the CPUs, to split what the hypervisor stole "
             "meanwhile",
     .min = control::kFinestAccount.count,
     .max = control::kCoarsestAccount.count},
    {.name = "steal-by",
     .kind = Kind::kWord,
     .value = "NAME",
     .fallback = "cpu",
     .help = "what it is split by: CPU time; or also who was on which CPU when (needs eBPF)",
     .allowed = "cpu,schedule"},
    {.name = "output",
     .letter = 'o',
     .kind = Kind::kFile,
     .value = "FILE",
     .help = "the recording",
     .otherwise = "tarsier-MAIN-PID-TIME.jfr"},
    {.name = "memory",
     .kind = Kind::kSize,
     .value = "SIZE",
     .fallback = "64m",
     .help = "bound for what the agent holds in the JVM",
     .min = 1 << 20},
    {.name = "max-depth",
     .kind = Kind::kNumber,
     .value = "N",
     .fallback = "2048",
     .help = "frames of one stack",
     .min = 1,
     .max = 8192},
    {.name = "native", .help = "show native frames, too, and where GC, JIT and VM threads are (engine fragment)"},
    {.name = "save-fragments",
     .kind = Kind::kNumber,
     .value = "N",
     .fallback = "100",
     .help = "keep one of N stack fragments with the memory that decoding it took, for tarsier-replay",
     .min = 1,
     .max = control::kMaxSaveFragments,
     .bare = true},
    {.name = "live",
     .help =
         "with --lock: show the locks that threads wait for, and who holds them, while it goes on; without -o nothing "
         "is kept"},
    {.name = "json", .help = "print the outcome as JSON"},
};
constexpr CommandSpec kSpec = {
    .name = "record",
    .summary = "record a JVM into a JFR file",
    .operands = "[PID | NAME | -- CMD ...]",
    .max_operands = 1,
    .operand = Operand::kJvm,
    .takes_program = true,
    .options = kOptions,
    .notes =
        "Without --cpu, --alloc, --waits and --lock: CPU, allocation and who is blocked by monitors, as far as the "
        "JVM\n"
        "can. --waits alone: CPU and waits.\n"
        "NAME is a part of the JVM's main class or jar. If only one JVM runs, it need not be named.\n"
        "-- CMD starts a program and records its (first) JVM from its start until the program ends or the time is "
        "over;\n"
        "the program then goes on, and its exit code, if it is not 0, becomes ours.\n"
        "Times: 10us, 1ms, 30s, 2m. Sizes: 512k, 64m, 1g.\n"
        "Ctrl-C (also SIGTERM, SIGHUP) ends the recording and saves; a second one leaves at once.\n"
        "A FILE that ends in .jfr.zst is packed at the end; until then the recording lies beside it as .jfr.\n"
        "An existing FILE is replaced, but only once the recording has started; a symbolic link is refused.\n"
        "The verdict and, as the last line, the path of the file go to stdout.",
};

control::SessionOptions session_options(const Arguments& arguments) {
  control::SessionOptions options;
  options.cpu = arguments.has("cpu");
  options.alloc = arguments.has("alloc");
  options.alloc_interval = arguments.size("alloc");
  options.waits = arguments.has("waits");
  std::tie(options.waits_min, options.waits_max) = arguments.range("waits");
  options.waits_by = arguments.text("waits-by");
  options.waits_budget = arguments.share("waits-budget");
  if (arguments.has("lock")) options.lock = arguments.text("lock");
  if (arguments.has("lock-detail")) {
    options.lock = "owner";
    options.lock_detail = arguments.text("lock-detail");
  }
  options.no_hooks = arguments.has("no-hooks");
  options.engine = arguments.text("engine");
  options.threads = arguments.text("threads");
  options.clock = arguments.text("clock");
  options.interval = arguments.duration("interval");
  options.duration = arguments.duration("duration");
  if (arguments.has("counters")) options.counters = arguments.text("counters");
  options.account = arguments.duration("account");
  if (arguments.text("steal-by") != "cpu") options.steal_by = arguments.text("steal-by");
  options.memory = arguments.size("memory");
  options.max_depth = static_cast<int>(arguments.number("max-depth"));
  options.native = arguments.has("native");
  if (arguments.has("save-fragments")) options.save_fragments = static_cast<int>(arguments.number("save-fragments"));
  return options;
}

// tarsier-Main-4711-20260131-235959.jfr
std::string default_file_name(std::string_view main, pid_t pid) {
  std::string name = attach::short_name(main);
  if (name.ends_with(".jar")) name.resize(name.size() - 4);
  name = name.substr(std::min(name.find_last_of("./") + 1, name.size()));
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  std::replace_if(
      name.begin(), name.end(), [&](char c) { return !is_plain(c); }, '_');
  name.resize(std::min<size_t>(name.size(), 60));
  const time_t now = ::time(nullptr);
  tm local{};
  ::localtime_r(&now, &local);
  char time[32];
  ::strftime(time, sizeof time, "%Y%m%d-%H%M%S", &local);
  return "tarsier-" + (name.empty() ? "jvm" : name) + "-" + std::to_string(pid) + "-" + time + ".jfr";
}

std::string seconds_text(Nanos time) {
  return std::to_string(time / seconds(1)) + " s";
}

// What the user is told at the end, and the exit code that belongs to it.
int conclude(const Outcome& outcome, RecordingOutput& output, bool as_json) {
  struct stat info {};
  if (!outcome.finished && ::fstat(output.file().fd(), &info) == 0 && info.st_size == 0) {
    ::unlink(output.path().c_str());
    return fail(Error{Errc::kFailed, outcome.problem + "; nothing had been written yet"});
  }
  int code = 0;
  std::string missing;
  if (!outcome.finished) {
    missing = outcome.problem + ". Saved are the first " + seconds_text(outcome.last.elapsed) +
              "; at most the last second is missing";
  } else if (!outcome.finished->complete) {
    missing = outcome.finished->missing;
  }
  const bool in_place = output.file().is_in_place();
  if (!in_place) {
    missing += missing.empty() ? "" : "; ";
    missing += output.path() + " does not lead to the recording any more: somebody removed, replaced or unmounted it";
  }
  if (!missing.empty()) {
    say("the recording is incomplete: " + missing);
    code = exit_code(Errc::kIncomplete);
  }

  std::vector<std::string> verdict;
  // Our descriptor still leads there: the verdict at least is not lost.
  analysis::LockPass locks;
  locks.keep_samples({});
  const auto model =
      analysis::load(in_place ? output.path() : "/proc/self/fd/" + std::to_string(output.file().fd()), &locks);
  if (model) {
    verdict = exporting::verdict_lines(*model);
  } else {
    say("the recording can't be read back: " + model.error().what);
    code = code == 0 ? exit_code(model.error().code) : code;
  }
  const Status finished = in_place ? output.finish() : Status();
  if (!finished) {
    say("the recording could not be packed and stays as it is: " + finished.error().what);
    code = exit_code(Errc::kIncomplete);
  }

  if (as_json) {
    nlohmann::ordered_json result = {{"file", output.path()}, {"complete", missing.empty()}, {"verdict", verdict}};
    result["missing"] = missing.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(missing);
    if (outcome.finished) {
      result["samples"] = {{"taken", outcome.finished->taken},
                           {"written", outcome.finished->written},
                           {"dropped", outcome.finished->dropped}};
    }
    const std::string text = result.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    return print(text + "\n") ? code : 1;
  }
  std::string text;
  for (const std::string& line : verdict) text += line + "\n";
  if (!in_place) return print(text) ? code : 1;
  if (!print(text + output.path() + "\n")) return 1;
  say("next: tarsier report " + output.path() + "   or, in the browser: tarsier view " + output.path());
  return code;
}

// Of a recording that was only looked at. The view says what there is to say.
int conclude_live(const Outcome& outcome) {
  if (outcome.finished && outcome.finished->complete) return 0;
  say("incomplete: " + (outcome.finished ? outcome.finished->missing : outcome.problem));
  return exit_code(Errc::kIncomplete);
}

// Where it is recorded to, and who shows it meanwhile.
struct Target {
  RecordingOutput output;
  bool keep;  // else it is only for the live view
  std::optional<LiveView> live{};

  static Result<Target> make(const Arguments& arguments, const std::string& default_name) {
    const bool keep = arguments.has("output") || !arguments.has("live");
    auto output = !keep ? RecordingOutput::nameless()
                        : RecordingOutput::create(arguments.has("output") ? arguments.text("output") : default_name);
    if (!output) return std::move(output).error();
    Target target{.output = std::move(*output), .keep = keep};
    if (arguments.has("live")) target.live.emplace(target.output.file().fd(), keep);
    return target;
  }
  [[nodiscard]] LiveView* view() { return live ? &*live : nullptr; }
  [[nodiscard]] std::string into() const { return keep ? " into " + output.path() : ""; }
  [[nodiscard]] std::string ends() const { return keep ? " it and saves" : " it"; }
  int conclude(const Outcome& outcome, bool as_json) {
    if (live) live->finish();
    return keep ? cli::conclude(outcome, output, as_json) : conclude_live(outcome);
  }
};

int attach_and_record(const Arguments& arguments, Signals& signals) {
  const auto jvm = find_target(arguments.operands.empty() ? "" : arguments.operands[0]);
  if (!jvm) return fail(jvm.error());
  if (jvm->obstacle) return fail_with(*jvm->obstacle, *jvm);
  const auto library = find_agent_library();
  if (!library) return fail(library.error());
  auto target = Target::make(arguments, default_file_name(jvm->main, jvm->pid));
  if (!target) return fail(target.error());

  auto call = call_agent(*jvm, *library, signals);
  if (!call) return fail_with(call.error(), *jvm);
  const std::string announcement = "recording JVM " + std::to_string(jvm->pid) + " (" +
                                   (jvm->main.empty() ? "?" : exporting::visible(jvm->main)) + ")" + target->into() +
                                   "; Ctrl-C ends" + target->ends();
  const auto outcome = Session(call->channel, signals, target->output.file(), nullptr, session_options(arguments),
                               announcement, target->view())
                           .run();
  if (!outcome) return fail_with(outcome.error(), *jvm);
  return target->conclude(*outcome, arguments.has("json"));
}

// A failing program's own code wins.
int wait_for_program(Child& child, Signals& signals, int our_code) {
  while (!child.poll_exit()) {
    pollfd event{signals.fd(), POLLIN, 0};
    ::poll(&event, 1, -1);
    for (auto info = signals.next(); info; info = signals.next()) {
      const int number = static_cast<int>(info->ssi_signo);
      if (number != SIGCHLD && !from_terminal(*info)) child.forward(number);
    }
  }
  const int childs_code = *child.poll_exit();
  return childs_code != 0 ? childs_code : our_code;
}

// The connection ends with this: an agent that we gave up on then stops and saves on its own.
int record_child(const Arguments& arguments, std::optional<ControlSocket> socket, Target& target, Child& child,
                 Signals& signals) {
  auto channel = socket->wait_for_child(child, signals);
  if (!channel) return fail(channel.error());
  socket.reset();  // further JVMs of the program find nobody, and are not recorded
  const std::string announcement =
      "recording " + arguments.program[0] + target.into() + "; its end ends" + target.ends();
  const auto outcome =
      Session(*channel, signals, target.output.file(), &child, session_options(arguments), announcement, target.view())
          .run();
  return outcome ? target.conclude(*outcome, arguments.has("json")) : fail(outcome.error());
}

int run_and_record(const Arguments& arguments, Signals& signals) {
  const auto library = find_agent_library();
  if (!library) return fail(library.error());
  const std::string main = attach::main_of_command_line(arguments.program);
  auto target = Target::make(arguments, default_file_name(main, ::getpid()));
  if (!target) return fail(target.error());

  attach::Jvm ours;  // its JVM will be ours in all that matters for the socket
  ours.pid = ours.namespace_pid = ::getpid();
  ours.uid = ::geteuid();
  ours.gid = ::getegid();
  auto socket = ControlSocket::open({ours, true});
  if (!socket) return fail(socket.error());
  const char* present = std::getenv("JAVA_TOOL_OPTIONS");
  const auto launch =
      with_agent(arguments.program, *library, socket->agent_options(), present != nullptr ? present : "");
  if (!launch) return fail(launch.error());
  auto child = Child::start(*launch, signals.previous_mask());
  if (!child) return fail(child.error());

  const int code = record_child(arguments, std::move(*socket), *target, *child, signals);
  return wait_for_program(*child, signals, code);
}

int run_record(const Arguments& arguments) {
  if (!arguments.program.empty() && !arguments.operands.empty()) {
    return fail(Error{Errc::kUsage, "either a JVM that runs ('" + arguments.operands[0] +
                                        "') or a program to start (behind --), not both"});
  }
  if (arguments.has("live") && !arguments.has("lock") && !arguments.has("lock-detail")) {
    return fail(Error{Errc::kUsage, "--live shows locks: record --lock --live"});
  }
  if (arguments.has("live") && arguments.has("json")) {
    return fail(Error{Errc::kUsage, "--live is for people, --json for programs: not both"});
  }
  auto signals = Signals::take();
  if (!signals) return fail(signals.error());
  return arguments.program.empty() ? attach_and_record(arguments, *signals) : run_and_record(arguments, *signals);
}

}  // namespace

const Command kRecord = {kSpec, run_record};

}  // namespace tarsier::cli
