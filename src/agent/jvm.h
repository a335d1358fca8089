// The JVM that we live in, as one session sees it: JNI, JVMTI and libjvm.
#pragma once

#include <jni.h>
#include <jvmti.h>

#include <memory>
#include <string>

#include "agent/libjvm.h"
#include "base/result.h"

namespace tarsier::agent {

// The one JVMTI environment of this library, made at the first call and never disposed of; null if the JVM has none.
// Not by two threads at once.
jvmtiEnv* jvmti_environment(JavaVM* vm);

class Jvm {
 public:
  // On the session's own thread, which must be attached. Obtains a jvmtiEnv: on 21 and later that switches on the
  // bookkeeping of virtual-thread mounts for good, so only engines that need it may ask for this.
  static Result<std::unique_ptr<Jvm>> enter(JavaVM* vm, JNIEnv* jni);
  // Leaves the jvmtiEnv as it was found: events and callbacks off, capabilities returned.
  ~Jvm();
  Jvm(const Jvm&) = delete;
  Jvm& operator=(const Jvm&) = delete;

  [[nodiscard]] jvmtiEnv* jvmti() const { return jvmti_; }
  // Of the session's thread only.
  [[nodiscard]] JNIEnv* jni() const { return jni_; }
  [[nodiscard]] const LibJvm& lib() const { return lib_; }
  [[nodiscard]] const Memory& memory() const { return lib_.memory(); }

  [[nodiscard]] std::string property(const char* name) const;  // empty if there is none
  [[nodiscard]] std::string version() const { return property("java.vm.version"); }
  [[nodiscard]] int major() const;  // 8, 11, 17, ...

 private:
  Jvm(JavaVM* vm, JNIEnv* jni) : jni_(jni), lib_(vm) {}

  JNIEnv* jni_;
  jvmtiEnv* jvmti_ = nullptr;
  LibJvm lib_;
};

// Memory that JVMTI allocated for us.
template <class T>
class JvmtiMemory {
 public:
  explicit JvmtiMemory(jvmtiEnv* jvmti) : jvmti_(jvmti) {}
  ~JvmtiMemory() {
    if (pointer_ != nullptr) jvmti_->Deallocate(reinterpret_cast<unsigned char*>(pointer_));
  }
  JvmtiMemory(const JvmtiMemory&) = delete;
  JvmtiMemory& operator=(const JvmtiMemory&) = delete;
  T** out() { return &pointer_; }
  [[nodiscard]] T* get() const { return pointer_; }

 private:
  jvmtiEnv* jvmti_;
  T* pointer_ = nullptr;
};

}  // namespace tarsier::agent
