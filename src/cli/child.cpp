#include "cli/child.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/unique_fd.h"

namespace tarsier::cli {
namespace {

constexpr const char* kVariable = "JAVA_TOOL_OPTIONS";

std::string_view file_name(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

int code_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

Result<Launch> with_agent(std::span<const std::string> program, const std::string& library, const std::string& options,
                          std::string_view present_options) {
  // The JVM takes everything behind the first '=' for options, and the variable has no way to escape both quotes.
  if (library.find_first_of("='\"") != std::string::npos) {
    return Error{Errc::kUsage, "a JVM can't be told to load " + library +
                                   ": install tarsier under a path without =, ' "
                                   "and \""};
  }
  const std::string argument = "-agentpath:" + library + "=" + options;
  Launch launch;
  launch.words.assign(program.begin(), program.end());
  if (file_name(program[0]) == "java") {
    launch.words.insert(launch.words.begin() + 1, argument);
    return launch;
  }
  launch.java_tool_options = present_options;
  if (!launch.java_tool_options.empty()) launch.java_tool_options += ' ';
  const bool needs_quotes = argument.find_first_of(" \t") != std::string::npos;
  launch.java_tool_options += needs_quotes ? "\"" + argument + "\"" : argument;
  return launch;
}

Result<Child> Child::start(const Launch& launch, const sigset_t& mask) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return errno_error("pipe", errno);
  const unique_fd reading(ends[0]);
  unique_fd writing(ends[1]);
  std::vector<char*> words;
  for (const std::string& word : launch.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);

  const pid_t pid = ::fork();
  if (pid < 0) return errno_error("fork", errno);
  if (pid == 0) {
    ::signal(SIGPIPE, SIG_DFL);
    ::sigprocmask(SIG_SETMASK, &mask, nullptr);
    if (!launch.java_tool_options.empty()) ::setenv(kVariable, launch.java_tool_options.c_str(), 1);
    ::execvp(words[0], words.data());
    const int err = errno;
    [[maybe_unused]] const ssize_t n = ::write(writing.get(), &err, sizeof err);
    ::_exit(127);
  }
  writing.reset();
  int err = 0;
  ssize_t n = 0;
  while ((n = ::read(reading.get(), &err, sizeof err)) < 0 && errno == EINTR) {
  }
  if (n == sizeof err) {
    ::waitpid(pid, nullptr, 0);
    return errno_error("can't run '" + launch.words[0] + "'", err, Errc::kUsage);
  }
  return Child(pid);
}

std::optional<int> Child::poll_exit() {
  int status = 0;
  if (!code_ && ::waitpid(pid_, &status, WNOHANG) == pid_) code_ = code_of(status);
  return code_;
}

void Child::forward(int signal) {
  if (!poll_exit()) ::kill(pid_, signal);
}

}  // namespace tarsier::cli
