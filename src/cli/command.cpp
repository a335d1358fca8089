#include "cli/command.h"

#include <array>
#include <vector>

#include "cli/console.h"

namespace tarsier::cli {
namespace {

constexpr std::array<const Command*, 4> kCommands = {&kPs, &kRecord, &kReport, &kExport};

std::string overview() {
  std::string text = "tarsier: shows where a running JVM spends its time\n\nusage: tarsier COMMAND [OPTIONS] ...\n\n";
  for (const Command* command : kCommands) {
    std::string left = "  " + std::string(command->spec.name);
    left.append(left.size() < 12 ? 12 - left.size() : 1, ' ');
    text.append(left).append(command->spec.summary).append("\n");
  }
  return text +
         "  help      this text, or that of a command: tarsier help COMMAND\n"
         "  version   which tarsier this is\n\n"
         "Every command has --help. Results go to stdout, everything else to stderr.\n"
         "Exit codes: 0 fine, 1 failed, 2 wrong usage, 3 no such JVM, 4 not permitted or attach failed or already "
         "being\n"
         "recorded, 5 saved but incomplete; after record -- CMD a failing CMD's own code.\n";
}

const Command* find(std::string_view name) {
  for (const Command* command : kCommands) {
    if (command->spec.name == name) return command;
  }
  return nullptr;
}

int unknown_command(std::string_view word) {
  std::vector<std::string_view> names = {"help", "version"};
  for (const Command* command : kCommands) names.push_back(command->spec.name);
  const std::string_view meant = nearest(word, names);
  std::string known;
  for (const std::string_view name : names) known.append(known.empty() ? "" : ", ").append(name);
  return fail(
      Error{Errc::kUsage, "there is no command '" + std::string(word) + "'; " +
                              (meant.empty() ? "there are: " + known : "did you mean '" + std::string(meant) + "'?")});
}

int show_help(std::span<const std::string> words) {
  if (words.empty()) return print(overview()) ? 0 : 1;
  const Command* command = find(words[0]);
  if (command == nullptr) return unknown_command(words[0]);
  return print(help_text(command->spec)) ? 0 : 1;
}

}  // namespace

int run(std::span<const std::string> words) {
  if (words.empty()) {
    say("which command?\n\n" + overview());
    return exit_code(Errc::kUsage);
  }
  const std::string& name = words[0];
  const auto rest = words.subspan(1);
  if (name == "help" || name == "--help" || name == "-h") return show_help(rest);
  if (name == "version" || name == "--version" || name == "-V") return print("tarsier " TARSIER_VERSION "\n") ? 0 : 1;
  const Command* command = find(name);
  if (command == nullptr) return unknown_command(name);
  const auto arguments = parse_arguments(command->spec, rest);
  if (!arguments) {
    return fail(Error{Errc::kUsage, arguments.error().what + "\n(tarsier " + name + " --help shows all options)"});
  }
  if (arguments->has("help")) return print(help_text(command->spec)) ? 0 : 1;
  return command->run(*arguments);
}

}  // namespace tarsier::cli
