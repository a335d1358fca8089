#include "agent/libjvm.h"

#include <dlfcn.h>

namespace tarsier::agent {

LibJvm::LibJvm(JavaVM* vm) {
  // It need not be among the global symbols: ask for the library that the JVM's own functions come from.
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(vm->functions->GetEnv), &info) != 0) {
    library_ = ::dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  }
  auto structs =
      hotspot::VmStructs::load(memory_, [this](const char* name) { return reinterpret_cast<Address>(symbol(name)); });
  if (structs) structs_ = std::move(*structs);
}

LibJvm::~LibJvm() {
  if (library_ != nullptr) ::dlclose(library_);
}

void* LibJvm::symbol(const char* name) const {
  return library_ == nullptr ? nullptr : ::dlsym(library_, name);
}

}  // namespace tarsier::agent
