#include "agent/jvm.h"

#include <cstdlib>

namespace tarsier::agent {

Result<std::unique_ptr<Jvm>> Jvm::enter(JavaVM* vm, JNIEnv* jni) {
  std::unique_ptr<Jvm> jvm(new Jvm(vm, jni));
  if (vm->GetEnv(reinterpret_cast<void**>(&jvm->jvmti_), JVMTI_VERSION_1_2) != JNI_OK) {
    return Error{Errc::kUnsupported, "this JVM offers no JVMTI environment"};
  }
  return jvm;
}

Jvm::~Jvm() {
  if (jvmti_ != nullptr) jvmti_->DisposeEnvironment();
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
