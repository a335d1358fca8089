#include "cli/command.h"

#include <array>
#include <vector>

#include "cli/console.h"

namespace tarsier::cli {
namespace {

constexpr std::array<const Command*, 13> kCommands = {&kPs,      &kRecord,      &kTop,    &kReport, &kView,
                                                      &kCompare, &kExport,      &kDump,   &kDoctor, &kCompletion,
                                                      &kMan,     &kHelpCommand, &kVersion};

constexpr ExitCode kExitCodes[] = {
    {0, "fine"},
    {1, "failed"},
    {2, "wrong usage"},
    {3, "no such JVM"},
    {4, "not permitted, attach failed, or already being recorded"},
    {5, "saved, but incomplete"},
};

constexpr CommandSpec kHelpSpec = {
    .name = "help",
    .summary = "this text, or that of a command",
    .operands = "[COMMAND]",
    .max_operands = 1,
    .operand = Operand::kCommand,
};
constexpr CommandSpec kVersionSpec = {.name = "version", .summary = "which tarsier this is"};

std::string overview() {
  std::string text = "tarsier: " + std::string(kSummary) + "\n\nusage: tarsier COMMAND [OPTIONS] ...\n\n";
  for (const Command* command : kCommands) {
    std::string left = "  " + std::string(command->spec.name);
    left.append(left.size() < 14 ? 14 - left.size() : 1, ' ');
    text.append(left).append(command->spec.summary).append("\n");
  }
  text += "\nEvery command has --help. Results go to stdout, everything else to stderr.\nExit codes:\n";
  for (const ExitCode& code : kExitCodes) {
    text.append("  ").append(std::to_string(code.code)).append("  ").append(code.meaning).append("\n");
  }
  return text + "After record -- CMD a failing CMD's own code.\n";
}

int run_help(const Arguments& arguments) {
  if (arguments.operands.empty()) return print(overview()) ? 0 : 1;
  const Command* command = find_command(arguments.operands[0]);
  if (command == nullptr) return unknown_command(arguments.operands[0]);
  return print(help_text(command->spec)) ? 0 : 1;
}

int run_version(const Arguments&) {
  return print("tarsier " + std::string(version()) + "\n") ? 0 : 1;
}

// What people type who do not know the commands yet.
std::string_view as_command(std::string_view word) {
  if (word == "--help" || word == "-h") return "help";
  if (word == "--version" || word == "-V") return "version";
  return word;
}

}  // namespace

const Command kHelpCommand = {kHelpSpec, run_help};
const Command kVersion = {kVersionSpec, run_version};

std::span<const Command* const> commands() {
  return kCommands;
}

std::span<const ExitCode> exit_codes() {
  return kExitCodes;
}

std::string_view version() {
  return TARSIER_VERSION;
}

const Command* find_command(std::string_view name) {
  for (const Command* command : kCommands) {
    if (command->spec.name == name) return command;
  }
  return nullptr;
}

int unknown_command(std::string_view name) {
  std::vector<std::string_view> names;
  names.reserve(kCommands.size());
  for (const Command* command : kCommands) names.push_back(command->spec.name);
  const std::string_view meant = nearest(name, names);
  std::string known;
  for (const std::string_view one : names) known.append(known.empty() ? "" : ", ").append(one);
  return fail(
      Error{Errc::kUsage, "there is no command '" + std::string(name) + "'; " +
                              (meant.empty() ? "there are: " + known : "did you mean '" + std::string(meant) + "'?")});
}

int run(std::span<const std::string> words) {
  if (words.empty()) {
    say("which command?\n\n" + overview());
    return exit_code(Errc::kUsage);
  }
  const Command* command = find_command(as_command(words[0]));
  if (command == nullptr) return unknown_command(words[0]);
  const auto arguments = parse_arguments(command->spec, words.subspan(1));
  if (!arguments) {
    return fail(Error{Errc::kUsage, arguments.error().what + "\n(tarsier " + std::string(command->spec.name) +
                                        " --help shows all options)"});
  }
  if (arguments->has("help")) return print(help_text(command->spec)) ? 0 : 1;
  return command->run(*arguments);
}

}  // namespace tarsier::cli
