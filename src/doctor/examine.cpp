#include "doctor/examine.h"

#include "doctor/checks.h"

namespace tarsier::doctor {

std::string_view grade_name(Grade grade) {
  switch (grade) {
    case Grade::kOk:
      return "ok";
    case Grade::kNote:
      return "note";
    case Grade::kProblem:
      return "problem";
  }
  return "";
}

std::vector<Finding> examine(const MachineFacts& machine) {
  std::vector<Finding> findings;
  for (const auto& group : {system_checks(), sampling_checks(), tracing_checks()}) {
    for (const MachineCheck check : group) findings.push_back(check(machine));
  }
  return findings;
}

std::vector<Finding> examine(const JvmFacts& jvm, const MachineFacts& machine) {
  std::vector<Finding> findings;
  for (const auto& group : {attach_checks(), inside_checks(), company_checks()}) {
    for (const JvmCheck check : group) findings.push_back(check(jvm, machine));
  }
  return findings;
}

}  // namespace tarsier::doctor
