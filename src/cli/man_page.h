// Man pages, made from the tables of options.
#pragma once

#include <string>

#include "cli/command.h"

namespace tarsier::cli {

std::string man_page();                         // tarsier(1)
std::string man_page(const CommandSpec& spec);  // tarsier-COMMAND(1)

}  // namespace tarsier::cli
