// From jmethodIDs to methods of the recording: names, and lines for bytecode indices. Session thread only.
#pragma once

#include <jni.h>
#include <jvmti.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "agent/jvm.h"
#include "recording/writer.h"

namespace tarsier::agent {

// "Ljava/lang/String;" -> "java/lang/String"; arrays keep their signature.
std::string_view class_name_of(std::string_view signature);

class MethodNames {
 public:
  MethodNames(Jvm& jvm, recording::Writer& writer);

  struct Method {
    recording::MethodId id;
    std::string name;                                  // package.Class.method
    std::vector<std::pair<uint16_t, uint16_t>> lines;  // (first bci, line), ascending

    [[nodiscard]] int32_t line(int32_t bci) const;
  };
  // Never fails: a method whose class is gone is [unloaded], one without an id [unknown].
  const Method& resolve(jmethodID method);

  // A frame that is no Java method: [failed: ..], a kernel symbol.
  recording::MethodId marker(const std::string& name);

 private:
  void start_over_if_forgotten();
  Method ask_jvm(jmethodID method);

  Jvm& jvm_;
  recording::Writer& writer_;
  uint64_t generation_;
  bool has_lines_ = false;
  std::unordered_map<jmethodID, Method> methods_;
  std::unordered_map<std::string, recording::MethodId> markers_;
};

}  // namespace tarsier::agent
