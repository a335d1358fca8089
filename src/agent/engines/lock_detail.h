// Until the recording ends, classes of the JDK tell what the JVM's functions do not: with --lock-detail, those of
// java.util.concurrent who holds locks that several may hold; and java.lang.VirtualThread when virtual threads park.
#pragma once

#include <jvmti.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/engines/engine.h"
#include "agent/engines/lock_capture.h"
#include "agent/engines/lock_detail_rules.h"

namespace tarsier::agent {

class LockDetail {
 public:
  // On the session's thread. `words`: see detailed_classes(). Brings our class into the JVM, where it stays; nothing
  // else is changed yet.
  static Result<std::unique_ptr<LockDetail>> prepare(EngineContext& context, std::string_view words);
  ~LockDetail();
  LockDetail(const LockDetail&) = delete;
  LockDetail& operator=(const LockDetail&) = delete;

  // From now on, until silence(), the capture is told. At most one at a time is on.
  Status put_on(LockCapture& capture);
  // More of them, once it is on.
  Status also(std::string_view words);
  // Any thread: nobody is in the capture any more when it returns.
  static void silence();
  // On the session's thread: the classes are as they were.
  Status take_off();

  void on_class_file(const ClassFile& file);

  // For the user: the classes that are changed, and why some are not, since this was asked last.
  [[nodiscard]] std::string take_names() { return std::exchange(names_, {}); }
  [[nodiscard]] std::vector<std::string> take_problems() { return std::exchange(problems_, {}); }
  [[nodiscard]] Nanos time_taken() const { return time_taken_; }

 private:
  struct Target {
    DetailedClass what;
    jclass klass = nullptr;  // a global reference
    bool changed = false;
  };
  explicit LockDetail(EngineContext& context) : context_(context) {}
  Status find_classes(std::string_view words);
  Status bring_class();
  // Those from this one on.
  Status change(size_t first);
  Status retransform(size_t first);

  EngineContext& context_;
  std::vector<Target> targets_;
  std::string names_;
  std::vector<std::string> problems_;
  bool is_on_ = false;
  Nanos time_taken_;  // of the JVM, to change classes and back
};

}  // namespace tarsier::agent
