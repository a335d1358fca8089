// tarsier doctor
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/install.h"
#include "cli/target.h"
#include "doctor/examine.h"
#include "export/escape.h"

namespace tarsier::cli {
namespace {

using doctor::Finding;
using doctor::Grade;

constexpr Option kOptions[] = {
    {.name = "json", .help = "print JSON (schema: docs/doctor.schema.json)"},
};
constexpr CommandSpec kSpec = {
    .name = "doctor",
    .summary = "what works here and with a JVM, what does not, why, and the exact fix",
    .operands = "[PID | NAME]",
    .max_operands = 1,
    .operand = Operand::kJvm,
    .options = kOptions,
    .notes =
        "Without a JVM it looks at the machine only. Nothing is loaded into the JVM, and it is not stopped.\n"
        "ok: works. note: works, but with less; what that means is said. problem: something can't be done at all.\n"
        "The exit code is 0 whatever is found, and 3 if there is no such JVM.",
};

struct Section {
  std::string title;
  std::vector<Finding> findings;
};

Finding agent_library() {
  const auto library = find_agent_library();
  if (library) return {"agent", Grade::kOk, *library};
  return {"agent", Grade::kProblem, library.error().what, "nothing can be recorded", "script/build"};
}

std::string text(const std::vector<Section>& sections) {
  constexpr size_t kGradeWidth = 9, kNameWidth = 19;
  std::string result;
  size_t notes = 0, problems = 0;
  for (const Section& section : sections) {
    result += (result.empty() ? "" : "\n") + section.title + "\n";
    for (const Finding& finding : section.findings) {
      std::string left = "  " + std::string(grade_name(finding.grade));
      left.resize(2 + kGradeWidth, ' ');
      left += finding.name;
      left.resize(2 + kGradeWidth + kNameWidth, ' ');
      result += left + exporting::visible(finding.found) + "\n";
      const std::string indent(left.size(), ' ');
      if (!finding.meaning.empty()) result += indent + "-> " + exporting::visible(finding.meaning) + "\n";
      if (!finding.fix.empty()) result += indent + "fix: " + exporting::visible(finding.fix) + "\n";
      notes += finding.grade == Grade::kNote ? 1 : 0;
      problems += finding.grade == Grade::kProblem ? 1 : 0;
    }
  }
  return result + "\n" + std::to_string(problems) + (problems == 1 ? " problem, " : " problems, ") +
         std::to_string(notes) + (notes == 1 ? " note\n" : " notes\n");
}

nlohmann::ordered_json json_of(const std::vector<Finding>& findings) {
  auto list = nlohmann::ordered_json::array();
  const auto or_null = [](const std::string& words) {
    return words.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(exporting::visible(words));
  };
  for (const Finding& finding : findings) {
    list.push_back({{"name", finding.name},
                    {"status", grade_name(finding.grade)},
                    {"found", exporting::visible(finding.found)},
                    {"meaning", or_null(finding.meaning)},
                    {"fix", or_null(finding.fix)}});
  }
  return list;
}

int run_doctor(const Arguments& arguments) {
  std::optional<attach::Jvm> jvm;
  if (!arguments.operands.empty()) {
    auto found = find_target(arguments.operands[0]);
    if (!found) return fail(found.error());
    jvm = std::move(*found);
  }
  const doctor::Places places;
  const auto machine = doctor::gather_machine(places, doctor::ask_kernel());
  std::vector<Section> sections = {{"machine", examine(machine)}};
  sections[0].findings.push_back(agent_library());
  if (jvm) {
    sections.push_back({"JVM " + std::to_string(jvm->pid), examine(doctor::gather_jvm(places, *jvm), machine)});
  }

  if (!arguments.has("json")) return print(text(sections)) ? 0 : 1;
  nlohmann::ordered_json document = {{"machine", json_of(sections[0].findings)}, {"jvm", nullptr}};
  if (jvm) document["jvm"] = {{"pid", jvm->pid}, {"checks", json_of(sections[1].findings)}};
  return print(document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n") ? 0 : 1;
}

}  // namespace

const Command kDoctor = {kSpec, run_doctor};

}  // namespace tarsier::cli
