// The JVM that we live in, as one session sees it: JNI, JVMTI, the symbols of libjvm and its layout tables.
#pragma once

#include <jni.h>
#include <jvmti.h>

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "hotspot/vm_structs.h"
#include "linux/self_memory.h"

namespace tarsier::agent {

class Jvm {
 public:
  // On the session's own thread, which must be attached. Obtains a jvmtiEnv: on 21 and later that switches on the
  // bookkeeping of virtual-thread mounts for good, so only engines that need it may ask for this.
  static Result<std::unique_ptr<Jvm>> enter(JavaVM* vm, JNIEnv* jni);
  // Gives the jvmtiEnv back: events off, capabilities returned.
  ~Jvm();
  Jvm(const Jvm&) = delete;
  Jvm& operator=(const Jvm&) = delete;

  [[nodiscard]] jvmtiEnv* jvmti() const { return jvmti_; }
  // Of the session's thread only.
  [[nodiscard]] JNIEnv* jni() const { return jni_; }
  [[nodiscard]] const Memory& memory() const { return memory_; }
  [[nodiscard]] const std::optional<hotspot::VmStructs>& structs() const { return structs_; }
  // An exported symbol of libjvm, nullptr if there is none.
  [[nodiscard]] void* symbol(const char* name) const;

  [[nodiscard]] std::string property(const char* name) const;  // empty if there is none
  [[nodiscard]] std::string version() const { return property("java.vm.version"); }
  [[nodiscard]] int major() const;  // 8, 11, 17, ...

 private:
  Jvm(JavaVM* vm, JNIEnv* jni) : vm_(vm), jni_(jni) {}

  JavaVM* vm_;
  JNIEnv* jni_;
  jvmtiEnv* jvmti_ = nullptr;
  void* library_ = nullptr;
  linux::SelfMemory memory_;
  std::optional<hotspot::VmStructs> structs_;
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
