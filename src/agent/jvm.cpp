#include "agent/jvm.h"

#include <dlfcn.h>

#include <cstdlib>

namespace tarsier::agent {

Result<std::unique_ptr<Jvm>> Jvm::enter(JavaVM* vm, JNIEnv* jni) {
  std::unique_ptr<Jvm> jvm(new Jvm(vm, jni));
  if (vm->GetEnv(reinterpret_cast<void**>(&jvm->jvmti_), JVMTI_VERSION_1_2) != JNI_OK) {
    return Error{Errc::kUnsupported, "this JVM offers no JVMTI environment"};
  }
  // libjvm need not be among the global symbols: ask for the library that the JVM's own functions come from.
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(vm->functions->GetEnv), &info) != 0) {
    jvm->library_ = ::dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  }
  auto structs = hotspot::VmStructs::load(
      jvm->memory_, [&](const char* name) { return reinterpret_cast<Address>(jvm->symbol(name)); });
  if (structs) jvm->structs_ = std::move(*structs);
  return jvm;
}

Jvm::~Jvm() {
  if (jvmti_ != nullptr) jvmti_->DisposeEnvironment();
  if (library_ != nullptr) ::dlclose(library_);
}

void* Jvm::symbol(const char* name) const {
  return library_ == nullptr ? nullptr : ::dlsym(library_, name);
}

std::string Jvm::property(const char* name) const {
  JvmtiMemory<char> value(jvmti_);
  if (jvmti_->GetSystemProperty(name, value.out()) != JVMTI_ERROR_NONE || value.get() == nullptr) return {};
  return value.get();
}

int Jvm::major() const {
  const std::string version = property("java.vm.specification.version");  // 1.8, 11, 17
  const int first = std::atoi(version.c_str());
  return first == 1 ? std::atoi(version.c_str() + 2) : first;
}

}  // namespace tarsier::agent
