// The program behind `record -- CMD`: started with the agent in its JVM, its standard streams left as they are.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tarsier::cli {

struct Launch {
  std::vector<std::string> words;
  std::string java_tool_options;  // empty: leave the variable alone
};
// `java ...` gets -agentpath as its first argument; of anything else (a script, a build tool) the JVMs take it from
// JAVA_TOOL_OPTIONS, of which `present_options` is the value so far.
Result<Launch> with_agent(std::span<const std::string> program, const std::string& library, const std::string& options,
                          std::string_view present_options);

class Child {
 public:
  static Result<Child> start(const Launch& launch, const sigset_t& mask);
  [[nodiscard]] pid_t pid() const { return pid_; }
  // Its exit code, 128 + n after signal n, once it has ended.
  std::optional<int> poll_exit();
  void forward(int signal);

 private:
  explicit Child(pid_t pid) : pid_(pid) {}
  pid_t pid_;
  std::optional<int> code_;
};

}  // namespace tarsier::cli
