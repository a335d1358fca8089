// The commands of tarsier: a table of them, one file each.
#pragma once

#include <span>

#include "cli/options.h"

namespace tarsier::cli {

struct Command {
  const CommandSpec& spec;
  int (*run)(const Arguments& arguments);  // the exit code
};

extern const Command kPs, kRecord, kReport, kExport;

// The whole command line, without the program's name.
int run(std::span<const std::string> words);

}  // namespace tarsier::cli
