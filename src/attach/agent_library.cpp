#include "attach/agent_library.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "attach/act_as.h"
#include "attach/target_root.h"
#include "attach/text_file.h"

namespace tarsier::attach {
namespace {

constexpr size_t kMaxLibrary = 256 << 20;
constexpr const char* kFile = "libtarsier.so";

bool target_can_open(const Jvm& jvm, const std::string& path) {
  const auto root = TargetRoot::open(jvm.pid, jvm.namespace_pid);
  if (!root || !root->is_ours()) return false;
  const auto as_user = ActAs::user(jvm.uid, jvm.gid);
  return as_user && unique_fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

// FNV-1a: names the build, protects nothing.
uint64_t fingerprint(const std::string& bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) hash = (hash ^ static_cast<uint8_t>(byte)) * 0x100000001b3;
  return hash;
}

Status write_file(int directory, const std::string& bytes) {
  ::unlinkat(directory, kFile, 0);
  const int flags = O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC;
  const unique_fd file(::openat(directory, kFile, flags, 0600));
  if (!file) return errno_error("create", errno);
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t n = ::write(file.get(), bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return errno_error("write", errno);
    done += static_cast<size_t>(n);
  }
  return {};
}

}  // namespace

Result<AgentLibrary> deliver_agent(const Jvm& jvm, const std::string& path) {
  if (target_can_open(jvm, path)) return AgentLibrary{path, std::nullopt};
  const auto bytes = read_text_file(path, kMaxLibrary);
  if (!bytes) return bytes.error();
  char name[64];
  std::snprintf(name, sizeof name, "tarsier-%u-%016llx", jvm.uid, static_cast<unsigned long long>(fingerprint(*bytes)));
  auto directory = PrivateDirectory::create_for_library(jvm, name);
  if (!directory) return std::move(directory).error();
  directory->path_for_us(kFile);
  const auto as_user = ActAs::user(jvm.uid, jvm.gid);
  if (!as_user) return as_user.error();
  if (auto written = write_file(directory->fd(), *bytes); !written) {
    return std::move(written).error().in("copying the agent to the JVM's " + directory->path_for_target(kFile));
  }
  const std::string seen = directory->path_for_target(kFile);
  return AgentLibrary{seen, std::move(*directory)};
}

}  // namespace tarsier::attach
