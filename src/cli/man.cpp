// tarsier man
#include "cli/console.h"
#include "cli/man_page.h"

namespace tarsier::cli {
namespace {

constexpr CommandSpec kSpec = {
    .name = "man",
    .summary = "the man page of tarsier or of a command, for man to show",
    .operands = "[COMMAND]",
    .max_operands = 1,
    .operand = Operand::kCommand,
    .notes =
        "To read one:  tarsier man record | man -l -\n"
        "To keep it:   tarsier man record > ~/.local/share/man/man1/tarsier-record.1",
};

int run_man(const Arguments& arguments) {
  if (arguments.operands.empty()) return print(man_page()) ? 0 : 1;
  const Command* command = find_command(arguments.operands[0]);
  if (command == nullptr) return unknown_command(arguments.operands[0]);
  return print(man_page(command->spec)) ? 0 : 1;
}

}  // namespace

const Command kMan = {kSpec, run_man};

}  // namespace tarsier::cli
