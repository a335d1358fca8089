// What the JVM calls the pieces of its stubs: "jbyte_disjoint_arraycopy" instead of "StubRoutines (2)".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agent/jvm.h"
#include "base/memory.h"

namespace tarsier::agent {

class StubNames {
 public:
  // Asks the JVM for all that it has generated so far. Session thread; empty if it does not tell.
  static StubNames collect(const Jvm& jvm);

  // Empty if it is not known.
  [[nodiscard]] std::string_view at(Address pc) const;

  void add(const char* name, const void* address, jint length);
  void sort();  // when all are there

 private:
  struct Stub {
    Address begin, end;
    std::string name;
  };
  std::vector<Stub> stubs_;  // by begin; of two that begin at one place the smaller comes last
};

// JVMTI's callback.
void JNICALL on_dynamic_code(jvmtiEnv*, const char* name, const void* address, jint length);

}  // namespace tarsier::agent
