#include "agent/native_method.h"

#include "hotspot/vm_structs.h"

namespace tarsier::agent {

Address native_function_of(const Jvm& jvm, const char* class_name, const char* method, const char* signature) {
  JNIEnv* jni = jvm.jni();
  jclass klass = jni->FindClass(class_name);
  jmethodID id = klass != nullptr ? jni->GetMethodID(klass, method, signature) : nullptr;
  jni->ExceptionClear();
  if (klass != nullptr) jni->DeleteLocalRef(klass);
  constexpr int kLastWithPointers = 25;  // up to here a jmethodID points to its Method*
  const auto size = jvm.lib().structs()->size_of("Method");
  if (id == nullptr || !size || jvm.major() > kLastWithPointers) return 0;
  const auto in_jvm = jvm.memory().read<Address>(reinterpret_cast<Address>(id));
  // Behind the Method itself.
  return in_jvm ? jvm.memory().read<Address>(*in_jvm + *size).value_or(0) : 0;
}

}  // namespace tarsier::agent
