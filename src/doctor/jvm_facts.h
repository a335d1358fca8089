// What can be found out about a JVM from outside, without loading anything into it or stopping it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "attach/jvm.h"
#include "doctor/places.h"
#include "doctor/status_file.h"

namespace tarsier::doctor {

enum class Libc { kUnknown, kGlibc, kMusl };

// Of libjvm.so; from the file that the JVM has mapped, not from one that an update has put in its place.
struct LibraryFacts {
  uint16_t machine = 0;  // EM_AARCH64, EM_X86_64
  bool has_symtab = false;
  bool has_async_get_call_trace = false;
  bool has_vm_structs = false;
  size_t usdt_probes = 0;
};

struct JvmFacts {
  attach::Jvm jvm;
  int major = 0;           // 8, 17; 0 if unknown
  std::string unreadable;  // why its maps can't be seen; empty: they can, and what follows is known
  Libc libc = Libc::kUnknown;
  std::vector<std::string> libraries;   // paths of what is mapped, each once
  std::optional<LibraryFacts> library;  // nothing: `library_unknown` says why
  std::string library_unknown;
  // Those of mnt, pid and user that are not ours; nothing if we may not see them.
  std::optional<std::vector<std::string>> own_namespaces;
  std::optional<ProcessState> state;
  std::optional<ResourceLimits> limits;
  std::vector<std::string> thread_names;  // as far as the kernel keeps them: 15 characters
  // By name; from the JVM's memory, or its command line where that can't be read. What neither tells is absent.
  std::map<std::string, bool, std::less<>> flags;
  std::string flags_unknown;  // why they are not from its memory; empty: they are
};

JvmFacts gather_jvm(const Places& places, const attach::Jvm& jvm);

// For the tests of gather_jvm's parts. The words of JVM arguments that set `names`: -XX:+Name, -XX:-Name; the last
// wins.
void flags_of_arguments(std::string_view arguments, std::map<std::string, bool, std::less<>>& flags);
int major_version(std::string_view version);  // 1.8.0_402 -> 8, 17.0.15 -> 17, 25-ea -> 25

}  // namespace tarsier::doctor
