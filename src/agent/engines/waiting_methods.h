// The native methods in which Java threads wait: whoever is found in one of them does not run.
#pragma once

#include <jni.h>

#include <algorithm>
#include <vector>

namespace tarsier::agent {

class WaitingMethods {
 public:
  // Session thread. Those that this JVM (16 and later) does not have are left out.
  explicit WaitingMethods(JNIEnv* jni) {
    struct Row {
      const char *holder, *name, *signature;
      bool is_static;
    };
    constexpr Row kRows[] = {{"jdk/internal/misc/Unsafe", "park", "(ZJ)V", false},
                             {"java/lang/Object", "wait", "(J)V", false},         // to 18
                             {"java/lang/Object", "wait0", "(J)V", false},        // from 19 on
                             {"java/lang/Thread", "sleep", "(J)V", true},         // to 18
                             {"java/lang/Thread", "sleep0", "(J)V", true},        // 19 and 20
                             {"java/lang/Thread", "sleepNanos0", "(J)V", true}};  // from 21 on
    for (const Row& row : kRows) {
      jclass holder = jni->FindClass(row.holder);
      jmethodID method = nullptr;
      if (holder != nullptr) {
        method = row.is_static ? jni->GetStaticMethodID(holder, row.name, row.signature)
                               : jni->GetMethodID(holder, row.name, row.signature);
        jni->DeleteLocalRef(holder);
      }
      jni->ExceptionClear();
      if (method != nullptr) methods_.push_back(method);
    }
  }

  [[nodiscard]] bool has(jmethodID method) const {
    return std::find(methods_.begin(), methods_.end(), method) != methods_.end();
  }

 private:
  std::vector<jmethodID> methods_;
};

}  // namespace tarsier::agent
