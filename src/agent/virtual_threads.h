// Finds out where this JVM keeps its virtual threads, once it has any.
#pragma once

#include <jni.h>

#include <optional>
#include <string>

#include "agent/jvm.h"
#include "hotspot/sigsafe/virtual_thread.h"

namespace tarsier::agent {

class VirtualThreads {
 public:
  explicit VirtualThreads(Jvm& jvm);
  ~VirtualThreads();
  VirtualThreads(const VirtualThreads&) = delete;
  VirtualThreads& operator=(const VirtualThreads&) = delete;

  // Null as long as the program has none, or if they can't be understood. Session thread; to be asked again and again.
  const hotspot::VirtualThreadLayout* layout();
  // Why not, although there are virtual threads.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  void look();

  Jvm& jvm_;
  jclass virtual_thread_ = nullptr;  // global; null: this JVM has no such class, or we need it no more
  std::optional<hotspot::VirtualThreadLayout> layout_;
  std::string problem_;
};

}  // namespace tarsier::agent
