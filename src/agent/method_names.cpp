#include "agent/method_names.h"

#include <algorithm>

namespace tarsier::agent {

std::string_view class_name_of(std::string_view signature) {
  if (signature.size() >= 2 && signature.front() == 'L' && signature.back() == ';') {
    return signature.substr(1, signature.size() - 2);
  }
  return signature;
}

MethodNames::MethodNames(Jvm& jvm, recording::Writer& writer)
    : jvm_(jvm), writer_(writer), generation_(writer.generation()) {
  jvmtiCapabilities wanted{};
  wanted.can_get_line_numbers = 1;
  has_lines_ = jvm.jvmti()->AddCapabilities(&wanted) == JVMTI_ERROR_NONE;
}

int32_t MethodNames::Method::line(int32_t bci) const {
  if (bci < 0 || lines.empty()) return 0;
  const auto after = std::upper_bound(lines.begin(), lines.end(), bci,
                                      [](int32_t wanted, const auto& entry) { return wanted < entry.first; });
  return after == lines.begin() ? 0 : std::prev(after)->second;
}

void MethodNames::start_over_if_forgotten() {
  if (generation_ == writer_.generation()) return;
  generation_ = writer_.generation();
  methods_.clear();
  markers_.clear();
}

const MethodNames::Method& MethodNames::resolve(jmethodID method) {
  start_over_if_forgotten();
  const auto it = methods_.find(method);
  if (it != methods_.end()) return it->second;
  return methods_.emplace(method, ask_jvm(method)).first->second;
}

recording::MethodId MethodNames::marker(const std::string& name) {
  start_over_if_forgotten();
  const auto it = markers_.find(name);
  if (it != markers_.end()) return it->second;
  return markers_.emplace(name, writer_.method({"", name, "", 0})).first->second;
}

MethodNames::Method MethodNames::ask_jvm(jmethodID method) {
  jvmtiEnv* jvmti = jvm_.jvmti();
  JNIEnv* jni = jvm_.jni();
  Method result;
  if (method == nullptr) {
    result.name = "[unknown method]";
    result.id = marker(result.name);
    return result;
  }
  // The class first: as long as we hold it, it can't be unloaded, and the questions after it are safe.
  jclass holder = nullptr;
  JvmtiMemory<char> class_signature(jvmti);
  JvmtiMemory<char> name(jvmti);
  JvmtiMemory<char> descriptor(jvmti);
  if (jvmti->GetMethodDeclaringClass(method, &holder) != JVMTI_ERROR_NONE || holder == nullptr ||
      jvmti->GetClassSignature(holder, class_signature.out(), nullptr) != JVMTI_ERROR_NONE ||
      jvmti->GetMethodName(method, name.out(), descriptor.out(), nullptr) != JVMTI_ERROR_NONE) {
    if (holder != nullptr) jni->DeleteLocalRef(holder);
    result.name = "[unloaded]";
    result.id = marker(result.name);
    return result;
  }
  jint modifiers = 0;
  jvmti->GetMethodModifiers(method, &modifiers);
  if (has_lines_) {
    jint count = 0;
    JvmtiMemory<jvmtiLineNumberEntry> table(jvmti);
    if (jvmti->GetLineNumberTable(method, &count, table.out()) == JVMTI_ERROR_NONE) {
      result.lines.reserve(static_cast<size_t>(count));
      for (jint i = 0; i < count; ++i) {
        const jvmtiLineNumberEntry& entry = table.get()[i];
        result.lines.emplace_back(static_cast<uint16_t>(entry.start_location),
                                  static_cast<uint16_t>(entry.line_number));
      }
      std::sort(result.lines.begin(), result.lines.end());  // javac writes them in order, others need not
    }
  }
  const std::string_view class_name = class_name_of(class_signature.get());
  result.id = writer_.method({class_name, name.get(), descriptor.get(), modifiers});
  result.name = class_name;
  std::replace(result.name.begin(), result.name.end(), '/', '.');
  result.name += '.';
  result.name += name.get();
  jni->DeleteLocalRef(holder);
  return result;
}

}  // namespace tarsier::agent
