#include "agent/engines/method_ids.h"

namespace tarsier::agent {

Status MethodIds::make_all(Jvm& jvm) {
  jvmtiEnv* jvmti = jvm.jvmti();
  for (const jvmtiEvent event : {JVMTI_EVENT_CLASS_LOAD, JVMTI_EVENT_CLASS_PREPARE}) {
    if (jvmti->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr) != JVMTI_ERROR_NONE) {
      return Error{Errc::kUnsupported, "the JVM does not tell about class loading, which AsyncGetCallTrace needs"};
    }
  }
  jint count = 0;
  JvmtiMemory<jclass> classes(jvmti);
  if (jvmti->GetLoadedClasses(&count, classes.out()) != JVMTI_ERROR_NONE) {
    return Error{Errc::kFailed, "the JVM does not list its classes"};
  }
  for (jint i = 0; i < count; ++i) {
    make(jvmti, classes.get()[i]);
    jvm.jni()->DeleteLocalRef(classes.get()[i]);
  }
  return {};
}

void MethodIds::make(jvmtiEnv* jvmti, jclass klass) {
  jint count = 0;
  JvmtiMemory<jmethodID> methods(jvmti);
  if (jvmti->GetClassMethods(klass, &count, methods.out()) != JVMTI_ERROR_NONE) return;  // an array, or not prepared
  methods_.fetch_add(count, std::memory_order_relaxed);
  classes_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace tarsier::agent
