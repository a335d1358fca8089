// While it lives, the calling thread (one of ours) is a daemon of the JVM, which may use JNI and JVMTI, and none of the
// application's threads.
#pragma once

#include <jni.h>

#include "agent/thread_registry.h"

namespace tarsier::agent {

class AttachedThread {
 public:
  // `name`: what thread dumps call it; starts with tarsier, as all our threads' do.
  AttachedThread(JavaVM* vm, ThreadRegistry& threads, const char* name);
  ~AttachedThread();
  AttachedThread(const AttachedThread&) = delete;
  AttachedThread& operator=(const AttachedThread&) = delete;

  // Null if the JVM did not let it in, because it is about to end.
  [[nodiscard]] JNIEnv* jni() const { return jni_; }

 private:
  JavaVM* const vm_;
  ThreadRegistry& threads_;
  JNIEnv* jni_ = nullptr;
};

}  // namespace tarsier::agent
