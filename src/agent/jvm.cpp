#include "agent/jvm.h"

#include <cstdlib>

namespace tarsier::agent {
namespace {

constexpr jvmtiEvent kEvents[] = {JVMTI_EVENT_THREAD_START,
                                  JVMTI_EVENT_THREAD_END,
                                  JVMTI_EVENT_VM_DEATH,
                                  JVMTI_EVENT_CLASS_LOAD,
                                  JVMTI_EVENT_CLASS_PREPARE,
                                  JVMTI_EVENT_SAMPLED_OBJECT_ALLOC,
                                  JVMTI_EVENT_GARBAGE_COLLECTION_START,
                                  JVMTI_EVENT_GARBAGE_COLLECTION_FINISH,
                                  JVMTI_EVENT_DYNAMIC_CODE_GENERATED};

}  // namespace

// Never disposed of: a JVM (17 to 25, at least) that has lost its last environment forgets to remove the JVMTI state of
// the threads that end then, and writes into their freed memory when the next environment is made. See
// docs/reliability.md, "One JVMTI environment".
jvmtiEnv* jvmti_environment(JavaVM* vm) {
  static jvmtiEnv* environment = nullptr;
  if (environment == nullptr && vm->GetEnv(reinterpret_cast<void**>(&environment), JVMTI_VERSION_1_2) != JNI_OK) {
    environment = nullptr;
  }
  return environment;
}

Result<std::unique_ptr<Jvm>> Jvm::enter(JavaVM* vm, JNIEnv* jni) {
  std::unique_ptr<Jvm> jvm(new Jvm(vm, jni));
  jvm->jvmti_ = jvmti_environment(vm);
  if (jvm->jvmti_ == nullptr) return Error{Errc::kUnsupported, "this JVM offers no JVMTI environment"};
  return jvm;
}

Jvm::~Jvm() {
  if (jvmti_ == nullptr) return;
  for (const jvmtiEvent event : kEvents) (void)jvmti_->SetEventNotificationMode(JVMTI_DISABLE, event, nullptr);
  (void)jvmti_->SetEventCallbacks(nullptr, 0);
  jvmtiCapabilities held{};
  if (jvmti_->GetCapabilities(&held) == JVMTI_ERROR_NONE) (void)jvmti_->RelinquishCapabilities(&held);
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
