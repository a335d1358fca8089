// Scripts that teach shells our words, made from the tables of options. Running JVMs are asked for when Tab is pressed.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/command.h"

namespace tarsier::cli {

std::string bash_completion(std::span<const Command* const> commands);
std::string zsh_completion(std::span<const Command* const> commands);
std::string fish_completion(std::span<const Command* const> commands);

struct Shell {
  std::string_view name;
  std::string (*script)(std::span<const Command* const> commands);
};
std::span<const Shell> shells();

// For the generators. The words that an operand may be, separated by blanks: those of kCommand and kShell.
std::string operand_words(const CommandSpec& spec, std::span<const Command* const> commands);
// 'text', whatever is in it, as every POSIX shell reads it.
std::string quoted(std::string_view text);

}  // namespace tarsier::cli
