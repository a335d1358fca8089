// --lock-detail: until the recording ends, classes of java.util.concurrent tell when their locks are acquired and
// released, and so who holds those that several may hold.
#pragma once

#include <jvmti.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/engines/engine.h"
#include "agent/engines/lock_capture.h"
#include "agent/engines/lock_detail_rules.h"

namespace tarsier::agent {

class LockDetail {
 public:
  // On the session's thread. Brings our class into the JVM, where it stays; nothing else is changed yet.
  static Result<std::unique_ptr<LockDetail>> prepare(EngineContext& context, std::string_view words);
  ~LockDetail();
  LockDetail(const LockDetail&) = delete;
  LockDetail& operator=(const LockDetail&) = delete;

  // From now on, until silence(), the capture is told. At most one at a time is on.
  Status put_on(LockCapture& capture);
  // Any thread: nobody is in the capture any more when it returns.
  void silence();
  // On the session's thread: the classes are as they were.
  Status take_off();

  void on_class_file(const ClassFile& file);

  // For the user: the classes that are changed, and why some are not.
  [[nodiscard]] const std::string& names() const { return names_; }
  [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }
  [[nodiscard]] Nanos time_taken() const { return time_taken_; }

 private:
  struct Target {
    DetailedClass what;
    jclass klass = nullptr;  // a global reference
    bool changed = false;
  };
  explicit LockDetail(EngineContext& context) : context_(context) {}
  Status bring_class();
  Status retransform();

  EngineContext& context_;
  std::vector<Target> targets_;
  std::string names_;
  std::vector<std::string> problems_;
  bool is_on_ = false;
  Nanos time_taken_;  // of the JVM, to change classes and back
};

}  // namespace tarsier::agent
