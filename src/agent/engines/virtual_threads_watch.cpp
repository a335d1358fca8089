#include "agent/engines/virtual_threads_watch.h"

namespace tarsier::agent {

VirtualThreadsWatch::VirtualThreadsWatch(Jvm& jvm) : jvm_(jvm) {
  constexpr int kFirst = 21;
  if (jvm.major() < kFirst) return;
  // JNI's FindClass would initialise it, and so make its scheduler for a program that never needs one.
  JNIEnv* jni = jvm.jni();
  jclass of_classes = jni->FindClass("java/lang/Class");
  jmethodID for_name = of_classes != nullptr
                           ? jni->GetStaticMethodID(of_classes, "forName",
                                                    "(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;")
                           : nullptr;
  jstring name = jni->NewStringUTF("java.lang.VirtualThread");
  if (for_name != nullptr && name != nullptr) {
    jobject found = jni->CallStaticObjectMethod(of_classes, for_name, name, JNI_FALSE, nullptr);
    if (found != nullptr) {
      class_ = static_cast<jclass>(jni->NewGlobalRef(found));
      jni->DeleteLocalRef(found);
    }
  }
  jni->ExceptionClear();
  for (jobject local : {static_cast<jobject>(of_classes), static_cast<jobject>(name)}) {
    if (local != nullptr) jni->DeleteLocalRef(local);
  }
}

VirtualThreadsWatch::~VirtualThreadsWatch() {
  if (class_ != nullptr) jvm_.jni()->DeleteGlobalRef(class_);
}

bool VirtualThreadsWatch::in_use() const {
  jint status = 0;
  return class_ != nullptr && jvm_.jvmti()->GetClassStatus(class_, &status) == JVMTI_ERROR_NONE &&
         (status & JVMTI_CLASS_STATUS_INITIALIZED) != 0;
}

}  // namespace tarsier::agent
