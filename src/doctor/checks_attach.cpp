#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "doctor/checks.h"

namespace tarsier::doctor {
namespace {

std::string pid_of(const JvmFacts& facts) {
  return std::to_string(facts.jvm.pid);
}

Finding identity(const JvmFacts& facts, const MachineFacts&) {
  const auto or_unknown = [](const std::string& text) { return text.empty() ? std::string("?") : text; };
  std::string found = "Java " + or_unknown(facts.jvm.version);
  if (!facts.jvm.vm_name.empty()) found += ", " + facts.jvm.vm_name;
  if (!facts.jvm.vendor.empty()) found += " of " + facts.jvm.vendor;
  found += ", runs " + or_unknown(facts.jvm.main);
  if (facts.major != 0 && facts.major < 8) {
    return {"jvm", Grade::kProblem, std::move(found), "tarsier records Java 8 and later"};
  }
  return {"jvm", Grade::kOk, std::move(found)};
}

Finding architecture(const JvmFacts& facts, const MachineFacts& machine) {
  if (!facts.library) return unknown("architecture", facts.library_unknown, as_root(facts));
  struct Named {
    uint16_t machine;
    std::string_view name;
  };
  constexpr Named kNamed[] = {{EM_AARCH64, "aarch64"}, {EM_X86_64, "x86_64"}};
  const auto* const named = std::find_if(std::begin(kNamed), std::end(kNamed),
                                         [&](const Named& one) { return one.machine == facts.library->machine; });
  if (named == std::end(kNamed)) {
    return {"architecture", Grade::kProblem, "ELF machine " + std::to_string(facts.library->machine),
            "the agent is built for aarch64 and x86_64 only"};
  }
  if (named->name == machine.architecture) return {"architecture", Grade::kOk, std::string(named->name)};
  return {"architecture", Grade::kProblem, std::string(named->name) + " on a machine of " + machine.architecture,
          "this agent is built for " + machine.architecture + " and can't be loaded there",
          "build tarsier for " + std::string(named->name) + " and use that one"};
}

Finding libc(const JvmFacts& facts, const MachineFacts&) {
  switch (facts.libc) {
    case Libc::kGlibc:
      return {"libc", Grade::kOk, "glibc"};
    case Libc::kMusl:
      return {"libc", Grade::kProblem, "musl", "the agent is built for glibc; JVMs on musl (Alpine) can't load it yet",
              "run the application on a JVM for glibc, e.g. in an image based on Debian"};
    case Libc::kUnknown:
      break;
  }
  if (!facts.unreadable.empty()) return unknown("libc", facts.unreadable, as_root(facts));
  return unknown("libc", "neither glibc nor musl is mapped", "");
}

Finding user(const JvmFacts& facts, const MachineFacts& machine) {
  const std::string found = "user " + facts.jvm.user;
  if (machine.user == facts.jvm.uid) return {"user", Grade::kOk, found + ", as we are"};
  if (machine.user == 0) return {"user", Grade::kOk, found, "we are root and act as that user to attach"};
  return {"user", Grade::kProblem, found + ", we are " + machine.user_name, "a JVM lets only its own user attach",
          "sudo -u " + facts.jvm.user + " tarsier record " + pid_of(facts)};
}

Finding namespaces(const JvmFacts& facts, const MachineFacts& machine) {
  if (!facts.own_namespaces) return unknown("namespaces", "they belong to another user", as_root(facts));
  if (facts.own_namespaces->empty() && !facts.jvm.own_root) return {"namespaces", Grade::kOk, "the same as ours"};
  std::string found;
  for (const std::string& kind : *facts.own_namespaces) found.append(found.empty() ? "its own: " : ", ").append(kind);
  if (found.empty()) found = "a root folder of its own";
  if (facts.jvm.namespace_pid != facts.jvm.pid)
    found += "; its pid there is " + std::to_string(facts.jvm.namespace_pid);
  if (machine.user == 0) {
    return {"namespaces", Grade::kOk, found,
            "a container: the agent is copied into its /tmp for the moment of loading; the recording arrives here"};
  }
  return {"namespaces", Grade::kNote, found, "a container: to reach into it may need root",
          "sudo tarsier record " + pid_of(facts)};
}

constexpr const char* kNotWhileItRuns = "can't be recorded while it runs";
constexpr const char* kFromItsStart = "start it without that, or by: tarsier record -- java ...";

Finding attach_mechanism(const JvmFacts& facts, const MachineFacts& machine) {
  // The memory knows also what the command line does not tell: flags from files.
  const auto disabled = facts.flags.find("DisableAttachMechanism");
  if (disabled != facts.flags.end() && disabled->second) {
    return {"attach", Grade::kProblem, "-XX:+DisableAttachMechanism", kNotWhileItRuns, kFromItsStart};
  }
  if (!facts.jvm.obstacle) return {"attach", Grade::kOk, "the JVM can be asked to load the agent"};
  if (machine.user != 0 && machine.user != facts.jvm.uid) {
    return {"attach", Grade::kProblem, "not for user " + machine.user_name, kNotWhileItRuns,
            "sudo tarsier record " + pid_of(facts)};
  }
  // What the obstacle advises stands behind its colon.
  const std::string& what = facts.jvm.obstacle->what;
  const size_t colon = std::min(what.find(": "), what.size());
  return {"attach", Grade::kProblem, what.substr(0, colon), kNotWhileItRuns,
          what.substr(std::min(colon + 2, what.size()))};
}

Finding agent_loading(const JvmFacts& facts, const MachineFacts&) {
  const auto flag = facts.flags.find("EnableDynamicAgentLoading");
  if (flag != facts.flags.end() && !flag->second) {
    return {"agent-loading", Grade::kProblem, "-XX:-EnableDynamicAgentLoading", kNotWhileItRuns, kFromItsStart};
  }
  const bool asked = facts.jvm.arguments.find("+EnableDynamicAgentLoading") != std::string::npos;
  if (facts.major >= 21 && !asked) {
    return {"agent-loading", Grade::kNote, "allowed",
            "the JVM prints three lines on its stderr when the first agent is loaded (JEP 451)",
            "start it with -XX:+EnableDynamicAgentLoading to silence them"};
  }
  return {"agent-loading", Grade::kOk, "allowed"};
}

constexpr JvmCheck kChecks[] = {identity, architecture, libc, user, namespaces, attach_mechanism, agent_loading};

}  // namespace

std::span<const JvmCheck> attach_checks() {
  return kChecks;
}

}  // namespace tarsier::doctor
