#include "hotspot/machine.h"

namespace tarsier::hotspot {

const Machine& Machine::host() {
#if defined(__aarch64__)
  return aarch64();
#else
  return x86_64();
#endif
}

const Machine* Machine::find(std::string_view name) {
  for (const Machine* machine : {&aarch64(), &x86_64()}) {
    if (machine->name() == name) return machine;
  }
  return nullptr;
}

}  // namespace tarsier::hotspot
