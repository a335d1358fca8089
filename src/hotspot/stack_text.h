// A walked stack in words, with all that the walk has found out: two walks that differ in anything differ here.
#pragma once

#include <optional>
#include <string>

#include "hotspot/edge_check.h"
#include "hotspot/stack_walker.h"

namespace tarsier::hotspot {

// One line for how it went, one for each frame, innermost first; the last without a newline. Plain ASCII.
std::string text_of(const WalkedStack& stack);
// One line: which compilation each frame is of, innermost first. Of frames that were taken over from the thread's last
// stack it is not known any more.
std::string code_text(const WalkedStack& stack);
// One line: what the bytecodes say about each call, innermost first.
std::string calls_text(const WalkedStack& stack, const std::optional<EdgeCheck>& check);

}  // namespace tarsier::hotspot
