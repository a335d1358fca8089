// tarsier completion
#include "cli/completion.h"

#include "cli/console.h"

namespace tarsier::cli {
namespace {

constexpr Shell kShells[] = {
    {"bash", bash_completion},
    {"zsh", zsh_completion},
    {"fish", fish_completion},
};

constexpr CommandSpec kSpec = {
    .name = "completion",
    .summary = "what makes a shell complete tarsier's words",
    .operands = "bash|zsh|fish",
    .max_operands = 1,
    .operand = Operand::kShell,
    .notes =
        "For a shell that runs: source <(tarsier completion bash), or eval \"$(tarsier completion zsh)\" once compinit "
        "has run.\n"
        "To keep:\n"
        "  tarsier completion bash > ~/.local/share/bash-completion/completions/tarsier\n"
        "  tarsier completion zsh > FOLDER/_tarsier    (a folder of $fpath)\n"
        "  tarsier completion fish > ~/.config/fish/completions/tarsier.fish",
};

int run_completion(const Arguments& arguments) {
  const std::string wanted = arguments.operands.empty() ? "" : arguments.operands[0];
  std::string known;
  for (const Shell& shell : kShells) {
    if (shell.name == wanted) return print(shell.script(commands())) ? 0 : 1;
    known.append(known.empty() ? "" : ", ").append(shell.name);
  }
  return fail(Error{Errc::kUsage,
                    (wanted.empty() ? "for which shell?" : "'" + wanted + "' is not known;") + " there are: " + known});
}

}  // namespace

std::span<const Shell> shells() {
  return kShells;
}

std::string operand_words(const CommandSpec& spec, std::span<const Command* const> commands) {
  std::string words;
  const auto add = [&words](std::string_view word) { words.append(words.empty() ? "" : " ").append(word); };
  if (spec.operand == Operand::kCommand) {
    for (const Command* command : commands) add(command->spec.name);
  } else if (spec.operand == Operand::kShell) {
    for (const Shell& shell : kShells) add(shell.name);
  }
  return words;
}

std::string quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      result += c;
    }
  }
  return result + "'";
}

const Command kCompletion = {kSpec, run_completion};

}  // namespace tarsier::cli
