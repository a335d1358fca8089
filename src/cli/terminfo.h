// What the terminal's description says. Apart from the rest: its header makes macros of words like `lines`.
#pragma once

namespace tarsier::cli {

// Of the terminal at stdout, by TERM: whether text can be put anywhere on its screen.
bool terminal_is_a_screen();

}  // namespace tarsier::cli
