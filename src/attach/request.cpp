#include "attach/request.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "attach/act_as.h"
#include "attach/process.h"
#include "attach/target_root.h"
#include "base/clock.h"

namespace tarsier::attach {
namespace {

constexpr size_t kMaxArgument = 1024;  // HotSpot's AttachOperation::arg_length_max

Error refused(std::string what) {
  return Error{Errc::kNotPermitted, std::move(what)};
}

// A process that stays the one we checked, however pids are reused: signals and waits go through its descriptor.
class PinnedProcess {
 public:
  explicit PinnedProcess(pid_t pid) : pid_(pid), fd_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {}
  Status signal(int number) const {
    const long sent = fd_ ? ::syscall(SYS_pidfd_send_signal, fd_.get(), number, nullptr, 0) : ::kill(pid_, number);
    if (sent == 0) return {};
    if (errno == ESRCH) return Error{Errc::kNotFound, "JVM " + std::to_string(pid_) + " has ended"};
    return errno_error("can't signal JVM " + std::to_string(pid_), errno, Errc::kNotPermitted);
  }
  // An error if the process ended or the caller gave up meanwhile.
  Status sleep(Nanos time, int cancel_fd) const {
    pollfd events[] = {{fd_.get(), POLLIN, 0}, {cancel_fd, POLLIN, 0}};
    ::poll(events, 2, static_cast<int>(time / millis(1)));
    if (events[1].revents != 0) return Error{Errc::kFailed, "interrupted while attaching"};
    if (events[0].revents != 0) {
      return Error{Errc::kNotFound, "JVM " + std::to_string(pid_) + " ended while we were attaching"};
    }
    return {};
  }

 private:
  pid_t pid_;
  unique_fd fd_;  // none before Linux 5.3
};

// The places of the handshake, opened with our own rights; used with the JVM user's.
struct Places {
  unique_fd tmp;
  unique_fd working_directory;  // none if we may not see it
};

Result<Places> open_places(const Jvm& jvm) {
  const auto root = TargetRoot::open(jvm.pid, jvm.namespace_pid);
  if (!root) return root.error();
  auto tmp = root->open_file("/tmp", O_PATH | O_DIRECTORY);
  if (!tmp) return std::move(tmp).error().in("the JVM's /tmp, where its attach socket lies");
  const std::string cwd = "/proc/" + std::to_string(jvm.pid) + "/cwd";
  return Places{std::move(*tmp), unique_fd(::open(cwd.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC))};
}

enum class SocketState { kAbsent, kStale, kConnected };
struct SocketAttempt {
  SocketState state = SocketState::kAbsent;
  unique_fd socket;
};

Result<SocketAttempt> try_connect(const Jvm& jvm, const Places& places, Nanos timeout) {
  const std::string name = ".java_pid" + std::to_string(jvm.namespace_pid);
  struct stat info {};
  if (::fstatat(places.tmp.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return SocketAttempt{};
    return errno_error("/tmp/" + name, errno, Errc::kNotPermitted);
  }
  if (!S_ISSOCK(info.st_mode) || info.st_uid != jvm.uid) {
    return refused("/tmp/" + name + " is not a socket of user " + jvm.user +
                   ": a killed JVM with the same pid left it there, or somebody means harm; remove it");
  }

  const auto as_user = ActAs::user(jvm.uid, jvm.gid);
  if (!as_user) return as_user.error();
  unique_fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return errno_error("socket", errno);
  const timeval limit{timeout.count / 1'000'000'000, timeout.count % 1'000'000'000 / 1000};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = path_in(places.tmp.get(), name);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);  // a descriptor and a pid: always fits
  if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    if (errno == ECONNREFUSED) {  // left behind by a process that had this pid before
      ::unlinkat(places.tmp.get(), name.c_str(), 0);
      return SocketAttempt{SocketState::kStale, {}};
    }
    if (errno == EAGAIN) return refused("the attach listener of JVM " + std::to_string(jvm.pid) + " does not answer");
    return errno_error("can't connect to /tmp/" + name, errno, Errc::kNotPermitted);
  }
  return SocketAttempt{SocketState::kConnected, std::move(socket)};
}

// The file that tells the JVM's SIGQUIT handler to listen instead of dumping threads; removed when done.
class TriggerFile {
 public:
  static Result<TriggerFile> create(const Jvm& jvm, const Places& places) {
    const auto as_user = ActAs::user(jvm.uid, jvm.gid);
    if (!as_user) return as_user.error();
    const std::string name = ".attach_pid" + std::to_string(jvm.namespace_pid);
    int err = 0;
    for (const unique_fd* folder : {&places.working_directory, &places.tmp}) {
      if (!*folder) continue;
      const int flags = O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC;
      const unique_fd file(::openat(folder->get(), name.c_str(), flags, 0600));
      err = errno;
      struct stat info {};
      const bool left_over = !file && err == EEXIST &&
                             ::fstatat(folder->get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
                             info.st_uid == jvm.uid;
      if (file || left_over) return TriggerFile(jvm, folder->get(), name);
    }
    return errno_error("can't make " + name + " in the JVM's working directory or /tmp", err, Errc::kNotPermitted);
  }
  TriggerFile(TriggerFile&& other) noexcept
      : jvm_(other.jvm_), folder_(std::exchange(other.folder_, -1)), name_(std::move(other.name_)) {}
  TriggerFile& operator=(TriggerFile&&) = delete;
  ~TriggerFile() {
    if (folder_ < 0) return;
    if (const auto as_user = ActAs::user(jvm_.uid, jvm_.gid)) ::unlinkat(folder_, name_.c_str(), 0);
  }

 private:
  TriggerFile(const Jvm& jvm, int folder, std::string name) : jvm_(jvm), folder_(folder), name_(std::move(name)) {}
  const Jvm& jvm_;
  int folder_;
  std::string name_;
};

// Checked anew right before each signal: the JVM may just be starting.
Status send_quit(const Jvm& jvm, const PinnedProcess& pinned) {
  const auto process = read_process(jvm.pid);
  if (!process) return process.error();
  if (!process->vm || process->vm->kind != VmKind::kHotSpot || !catches_sigquit(process->status)) {
    return refused("JVM " + std::to_string(jvm.pid) + " does not handle SIGQUIT, which would kill it");
  }
  return pinned.signal(SIGQUIT);
}

Result<unique_fd> connect_to_jvm(const Jvm& jvm, const Places& places, const PinnedProcess& pinned,
                                 const Patience& patience) {
  auto attempt = try_connect(jvm, places, patience.timeout);
  if (!attempt) return std::move(attempt).error();
  if (attempt->state == SocketState::kConnected) return std::move(attempt->socket);

  auto trigger = TriggerFile::create(jvm, places);
  if (!trigger) return std::move(trigger).error();
  if (auto sent = send_quit(jvm, pinned); !sent) return std::move(sent).error();
  const Nanos start = monotonic_now();
  bool sent_again = false;
  for (Nanos pause = millis(10); monotonic_now() - start < patience.timeout; pause = std::min(pause * 2, millis(200))) {
    if (auto slept = pinned.sleep(pause, patience.cancel_fd); !slept) return std::move(slept).error();
    attempt = try_connect(jvm, places, patience.timeout);
    if (!attempt) return std::move(attempt).error();
    if (attempt->state == SocketState::kConnected) return std::move(attempt->socket);
    // The handler may have run before the file was seen, or found the listener half started: ask once more.
    if (!sent_again && monotonic_now() - start > patience.timeout / 2) {
      sent_again = true;
      if (auto sent = send_quit(jvm, pinned); !sent) return std::move(sent).error();
    }
  }
  return refused("JVM " + std::to_string(jvm.pid) + " did not open its attach socket within " +
                 std::to_string(patience.timeout / seconds(1)) +
                 " s: it may be hanging, or attaching is switched off (-XX:+DisableAttachMechanism); if so, record it "
                 "from its start by: tarsier record -- java ...");
}

Status send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0) {
      if (errno == EINTR) continue;
      return errno_error("the JVM did not take our request", errno, Errc::kNotPermitted);
    }
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

}  // namespace

Result<Reply> parse_reply(std::string_view reply) {
  if (reply.empty()) {
    return refused("the JVM hung up without an answer: it talks only to its own user and group (see its own log)");
  }
  const size_t first_end = std::min(reply.find('\n'), reply.size());
  int code = 0;
  const auto [rest, error] = std::from_chars(reply.data(), reply.data() + first_end, code);
  if (error != std::errc() || rest != reply.data() + first_end) {
    std::string beginning(reply.substr(0, 200));
    std::replace(beginning.begin(), beginning.end(), '\n', ' ');
    return refused("the JVM answered something else than a code: " + beginning);
  }
  constexpr int kBadVersion = 101;
  if (code == kBadVersion) return refused("the JVM speaks another version of the attach protocol");
  return Reply{code, reply.substr(std::min(first_end + 1, reply.size()))};
}

Result<unique_fd> send_request(const Jvm& jvm, std::span<const std::string> words, const Patience& patience) {
  std::string bytes("1\0", 2);
  for (const std::string& word : words) {
    if (word.size() > kMaxArgument || word.find('\0') != std::string::npos) {
      return Error{Errc::kUsage, "a JVM takes no argument longer than 1024 bytes: " + word};
    }
    bytes.append(word).push_back('\0');
  }
  const PinnedProcess pinned(jvm.pid);
  const auto places = open_places(jvm);
  if (!places) return places.error();
  auto socket = connect_to_jvm(jvm, *places, pinned, patience);
  if (!socket) return std::move(socket).error();
  if (auto sent = send_all(socket->get(), bytes); !sent) return std::move(sent).error();
  return std::move(*socket);
}

}  // namespace tarsier::attach
