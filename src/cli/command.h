// The commands of tarsier: a table of them, one file each.
#pragma once

#include <span>

#include "cli/options.h"

namespace tarsier::cli {

struct Command {
  const CommandSpec& spec;
  int (*run)(const Arguments& arguments);  // the exit code
};

extern const Command kPs, kRecord, kTop, kReport, kView, kCompare, kExport, kDump, kDoctor, kCompletion, kMan,
    kHelpCommand, kVersion;

std::span<const Command* const> commands();
// nullptr if there is none of that name.
const Command* find_command(std::string_view name);
// Says so, with what may have been meant.
int unknown_command(std::string_view name);

struct ExitCode {
  int code;
  std::string_view meaning;
};
std::span<const ExitCode> exit_codes();

inline constexpr std::string_view kSummary = "shows where a running JVM spends its time";
std::string_view version();

// The whole command line, without the program's name.
int run(std::span<const std::string> words);

}  // namespace tarsier::cli
