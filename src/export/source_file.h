#pragma once

#include <string>

#include "analysis/model.h"

namespace tarsier::exporting {

// Where a Java method's source most likely is, by javac's convention: demo.Main$Inner.run -> demo/Main.java. Recordings
// don't say it. Empty for frames that are no Java methods.
std::string source_file_of(const analysis::Method& method);

}  // namespace tarsier::exporting
