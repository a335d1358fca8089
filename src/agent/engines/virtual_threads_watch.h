// Are there virtual threads in this JVM? Told by whether their class was ever used.
#pragma once

#include "agent/jvm.h"

namespace tarsier::agent {

class VirtualThreadsWatch {
 public:
  // On the session's thread, as all that follows.
  explicit VirtualThreadsWatch(Jvm& jvm);
  ~VirtualThreadsWatch();
  VirtualThreadsWatch(const VirtualThreadsWatch&) = delete;
  VirtualThreadsWatch& operator=(const VirtualThreadsWatch&) = delete;

  // This JVM may have them.
  [[nodiscard]] bool has_class() const { return class_ != nullptr; }
  // There have been some. From then on it stays so.
  [[nodiscard]] bool in_use() const;

 private:
  Jvm& jvm_;
  jclass class_ = nullptr;  // a global reference
};

}  // namespace tarsier::agent
