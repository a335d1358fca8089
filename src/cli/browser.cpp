#include "cli/browser.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <sstream>

namespace tarsier::cli {
namespace {

bool is_set(const char* variable) {
  return variable != nullptr && *variable != '\0';
}

}  // namespace

std::optional<std::vector<std::string>> browser_command(const std::string& address, const char* browser,
                                                        const char* display, const char* wayland_display) {
  if (is_set(browser)) {
    // By custom: programs separated by colons, the best one first, with %s where the address belongs.
    std::istringstream first(std::string(browser).substr(0, std::string_view(browser).find(':')));
    std::vector<std::string> words;
    bool placed = false;
    for (std::string word; first >> word;) {
      if (const size_t at = word.find("%s"); at != std::string::npos) {
        word.replace(at, 2, address);
        placed = true;
      }
      words.push_back(std::move(word));
    }
    if (!placed) words.push_back(address);
    if (words.size() > 1) return words;
  }
  if (is_set(display) || is_set(wayland_display)) return std::vector<std::string>{"xdg-open", address};
  return std::nullopt;
}

Status start_apart(const std::vector<std::string>& words, const sigset_t& mask) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawnattr_init(&attributes);
  // What browsers have to say on a terminal is nothing for this one.
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  sigset_t defaults;
  ::sigemptyset(&defaults);
  ::sigaddset(&defaults, SIGPIPE);
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  ::posix_spawnattr_setsigmask(&attributes, &mask);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);

  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = 0;
  const int failed = ::posix_spawnp(&pid, arguments[0], &files, &attributes, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  if (failed != 0) return errno_error("can't start " + words[0], failed);
  return {};
}

}  // namespace tarsier::cli
