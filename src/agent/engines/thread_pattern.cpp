#include "agent/engines/thread_pattern.h"

namespace tarsier::agent {

Result<ThreadPattern> ThreadPattern::make(const std::string& expression) {
  ThreadPattern pattern;
  if (expression.empty()) return pattern;
  auto regex = std::make_unique<regex_t>();
  const int err = ::regcomp(regex.get(), expression.c_str(), REG_EXTENDED | REG_NOSUB);
  if (err != 0) {
    char text[128];
    ::regerror(err, regex.get(), text, sizeof(text));
    return Error{Errc::kUsage, "thread expression '" + expression + "': " + text};
  }
  pattern.regex_.reset(regex.release());
  return pattern;
}

bool ThreadPattern::matches(std::string_view name) const {
  constexpr size_t kMostMatched = 500;  // names may be 60,000 characters long, and matching takes memory for each
  return regex_ == nullptr ||
         ::regexec(regex_.get(), std::string(name.substr(0, kMostMatched)).c_str(), 0, nullptr, 0) == 0;
}

}  // namespace tarsier::agent
