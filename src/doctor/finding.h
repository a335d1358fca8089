// What the doctor says about one thing.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace tarsier::doctor {

enum class Grade {
  kOk,
  kNote,     // works, but with less
  kProblem,  // something can't be done at all
};

struct Finding {
  std::string_view name;  // stays the same from version to version
  Grade grade = Grade::kOk;
  std::string found;         // what is there
  std::string meaning = {};  // for tarsier, if anything
  std::string fix = {};      // the exact command, if there is one
};

// What can't be found out is worth a note; more privileges mostly help.
inline Finding unknown(std::string_view name, const std::string& why, std::string fix) {
  return {name, Grade::kNote, "not known: " + why, "", std::move(fix)};
}

std::string_view grade_name(Grade grade);  // ok, note, problem

}  // namespace tarsier::doctor
