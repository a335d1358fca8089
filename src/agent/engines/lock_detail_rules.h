// Which classes --lock-detail changes, and what is put into them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "classfile/insert_calls.h"

namespace tarsier::agent {

constexpr const char* kHoldsClass = "java/util/concurrent/locks/TarsierHolds";

struct DetailedClass {
  std::string_view word;  // of the option
  std::string name;       // as in class files
  std::vector<classfile::Insertion> calls;
};

// Of the words that are given, separated by commas.
std::vector<DetailedClass> detailed_classes(std::string_view words);

}  // namespace tarsier::agent
