#include "agent/jvm.h"

#include <cstdlib>

namespace tarsier::agent {
namespace {

// One for all sessions. Disposing of one at the end of each made the JVM (17 and 25) corrupt its heap after some dozens
// of sessions: it frees a disposed environment at a later safepoint while something still counts in it.
jvmtiEnv* g_environment = nullptr;

constexpr jvmtiEvent kEvents[] = {JVMTI_EVENT_THREAD_START,  JVMTI_EVENT_THREAD_END,
                                  JVMTI_EVENT_VM_DEATH,      JVMTI_EVENT_CLASS_LOAD,
                                  JVMTI_EVENT_CLASS_PREPARE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC};

}  // namespace

Result<std::unique_ptr<Jvm>> Jvm::enter(JavaVM* vm, JNIEnv* jni) {
  std::unique_ptr<Jvm> jvm(new Jvm(vm, jni));
  if (g_environment == nullptr && vm->GetEnv(reinterpret_cast<void**>(&g_environment), JVMTI_VERSION_1_2) != JNI_OK) {
    return Error{Errc::kUnsupported, "this JVM offers no JVMTI environment"};
  }
  jvm->jvmti_ = g_environment;
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
