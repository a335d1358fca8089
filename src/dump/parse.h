#pragma once

#include <string_view>

#include "base/result.h"
#include "dump/thread_dump.h"

namespace tarsier::dump {

// Of the text that a JVM answers to threaddump -l, of 8 to 25. Names of threads, classes and methods may look like
// anything, and are UTF-8 in the result; what the text does not say is left out. kFailed: it is no thread dump.
Result<ThreadDump> parse(std::string_view as_written);

}  // namespace tarsier::dump
