#include "cli/install.h"

#include <cerrno>
#include <cstdlib>
#include <memory>

namespace tarsier::cli {

Result<std::string> find_agent_library() {
  struct Free {
    void operator()(char* text) const { std::free(text); }
  };
  using Path = std::unique_ptr<char, Free>;
  const Path self(::realpath("/proc/self/exe", nullptr));
  if (!self) return errno_error("/proc/self/exe", errno);
  std::string folder = self.get();
  folder.resize(folder.rfind('/'));
  for (const char* place : {"/libtarsier.so", "/../libtarsier.so", "/../lib/libtarsier.so"}) {
    if (const Path found(::realpath((folder + place).c_str(), nullptr)); found) return std::string(found.get());
  }
  return Error{Errc::kFailed, "libtarsier.so is neither in " + folder + " nor one folder up nor in " + folder +
                                  "/../lib: build it by script/build, or install it beside the command"};
}

}  // namespace tarsier::cli
