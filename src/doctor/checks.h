// The checks: small functions from facts to a finding, in tables, one file per group.
#pragma once

#include <span>

#include "doctor/finding.h"
#include "doctor/jvm_facts.h"
#include "doctor/machine_facts.h"

namespace tarsier::doctor {

using MachineCheck = Finding (*)(const MachineFacts& machine);
std::span<const MachineCheck> system_checks();    // who and where we are
std::span<const MachineCheck> sampling_checks();  // what triggers samples
std::span<const MachineCheck> tracing_checks();   // what looks into the kernel and into other processes

inline std::string as_root(const JvmFacts& facts) {
  return "sudo tarsier doctor " + std::to_string(facts.jvm.pid);
}

using JvmCheck = Finding (*)(const JvmFacts& jvm, const MachineFacts& machine);
std::span<const JvmCheck> attach_checks();   // can the agent get in?
std::span<const JvmCheck> inside_checks();   // what it will find there
std::span<const JvmCheck> company_checks();  // who is there already

}  // namespace tarsier::doctor
