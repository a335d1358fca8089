// Showing an address in the user's browser.
#pragma once

#include <signal.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tarsier::cli {

// The program to start, with its arguments: the first one of $BROWSER, or xdg-open where there is a display. None:
// there is nothing that could show it. Values are as the environment has them; null: not there.
std::optional<std::vector<std::string>> browser_command(const std::string& address, const char* browser,
                                                        const char* display, const char* wayland_display);

// Starts it, without a shell, in a session of its own: Ctrl-C here must not end the browser there. `mask`: of signals.
Status start_apart(const std::vector<std::string>& words, const sigset_t& mask);

}  // namespace tarsier::cli
