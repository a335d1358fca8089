// What we say to the user beside results: to stderr, prefixed, and without letting names from outside play with the
// terminal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tarsier::cli {

// 1234567 -> 1,234,567
std::string grouped(uint64_t number);

// "tarsier: text" to stderr, of which only line ends are left as they are: names of others go through visible() first.
void say(std::string_view text);

int exit_code(Errc code);
// Says it and returns its exit code.
int fail(const Error& error);

// Writes all of it to stdout; false (and said) if that fails, e.g. because the disk behind it is full.
bool print(std::string_view text);

}  // namespace tarsier::cli
