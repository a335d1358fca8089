// Which JVM the user means: a pid, a part of its main class or jar, or nothing if only one runs.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "attach/jvm.h"
#include "base/result.h"

namespace tarsier::cli {

// Looks at the running JVMs. kNotFound: no such JVM; kUsage: several, with their list in the error.
Result<attach::Jvm> find_target(std::string_view word);

// The choice by name among `jvms`; an empty word means the only one. A name that is exactly the main class (with or
// without its package) or jar of one JVM means that one, though it may be a part of others' too.
Result<attach::Jvm> choose_by_name(std::string_view word, std::span<const attach::Jvm> jvms);

// "  4711  17.0.15  com.example.Main", one line for each
std::string jvm_lines(std::span<const attach::Jvm> jvms);

}  // namespace tarsier::cli
