// Which threads were asked for: those in whose names an extended regular expression of POSIX is found.
#pragma once

#include <regex.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tarsier::agent {

class ThreadPattern {
 public:
  // An empty expression means all threads.
  static Result<ThreadPattern> make(const std::string& expression);
  // Any thread, also one of the application's with little stack.
  [[nodiscard]] bool matches(std::string_view name) const;

 private:
  struct Free {
    void operator()(regex_t* regex) const noexcept {
      ::regfree(regex);
      delete regex;
    }
  };
  std::unique_ptr<regex_t, Free> regex_;  // null: all
};

}  // namespace tarsier::agent
