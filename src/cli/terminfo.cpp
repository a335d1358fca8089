#include "cli/terminfo.h"

#include <curses.h>
#include <term.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

namespace tarsier::cli {

bool terminal_is_a_screen() {
  const char* type = std::getenv("TERM");
  if (type == nullptr || *type == '\0') return false;
  int problem = 0;
  if (::setupterm(nullptr, STDOUT_FILENO, &problem) != OK) return false;
  char can_move[] = "cup";
  const char* const move_to = ::tigetstr(can_move);
  const bool can = move_to != nullptr && reinterpret_cast<intptr_t>(move_to) != -1;  // -1: that is no string at all
  ::del_curterm(cur_term);
  return can;
}

}  // namespace tarsier::cli
