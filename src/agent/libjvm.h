// libjvm itself: its exported symbols and its layout tables. Needs neither JNI nor JVMTI, so it works before the JVM
// is initialized, and it switches nothing on.
#pragma once

#include <jni.h>

#include <memory>
#include <optional>

#include "hotspot/vm_structs.h"
#include "linux/self_memory.h"

namespace tarsier::agent {

class LibJvm {
 public:
  explicit LibJvm(JavaVM* vm);
  ~LibJvm();
  LibJvm(const LibJvm&) = delete;
  LibJvm& operator=(const LibJvm&) = delete;

  // An exported symbol, nullptr if there is none.
  [[nodiscard]] void* symbol(const char* name) const;
  [[nodiscard]] const Memory& memory() const { return memory_; }
  // Nothing if this JVM does not export them.
  [[nodiscard]] const std::optional<hotspot::VmStructs>& structs() const { return structs_; }

 private:
  void* library_ = nullptr;
  linux::SelfMemory memory_;
  std::optional<hotspot::VmStructs> structs_;
};

}  // namespace tarsier::agent
