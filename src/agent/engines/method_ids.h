// jmethodIDs: AsyncGetCallTrace names methods by them, and can't make any in a handler. So those of every class are
// made before.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/jvm.h"
#include "base/result.h"

namespace tarsier::agent {

class MethodIds {
 public:
  // Of all classes that there are; from then on the JVM tells of new ones (Engine::on_class_prepare).
  Status make_all(Jvm& jvm);
  // Any thread.
  void make(jvmtiEnv* jvmti, jclass klass);

  [[nodiscard]] int64_t count() const { return methods_.load(); }
  // Estimated: a cell and an entry in its class's cache each, and a header per class.
  [[nodiscard]] int64_t bytes() const { return methods_.load() * 16 + classes_.load() * 32; }

 private:
  std::atomic<int64_t> methods_{0}, classes_{0};
};

}  // namespace tarsier::agent
