// A process of another user's, for tests of what is lent to it.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/clock.h"
#include "base/unique_fd.h"

namespace tarsier::agent {

constexpr uid_t kNobody = 65534;

// Burns CPU time, as nobody, and does as it is told.
class Burner {
 public:
  struct How {
    bool dumpable = true;        // as a program that was started by its user, not by root who became that user
    bool naps = false;           // sleeps for a millisecond at a time instead, or until it is told something
    bool own_namespace = false;  // of process ids
  };
  Burner() : Burner(How()) {}
  explicit Burner(const How& how) {
    int ready[2], words[2];
    must(::pipe2(ready, O_CLOEXEC) == 0);
    must(::pipe2(words, O_CLOEXEC | O_NONBLOCK) == 0);
    const long flags = SIGCHLD | (how.own_namespace ? CLONE_NEWPID : 0);
    pid_ = static_cast<pid_t>(::syscall(SYS_clone, flags, nullptr, nullptr, nullptr, nullptr));  // a fork()
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::setresuid(kNobody, kNobody, kNobody) != 0) ::_exit(1);
      ::prctl(PR_SET_DUMPABLE, how.dumpable ? 1 : 0);
      burn(ready[1], words[0], how.naps);
    }
    must(pid_ > 0);
    ready_.reset(ready[0]);
    words_.reset(words[1]);
    ::close(ready[1]);
    ::close(words[0]);
    wait();
  }
  Burner(const Burner&) = delete;
  ~Burner() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] Nanos cpu_time() const {
    clockid_t clock{};
    must(::clock_getcpuclockid(pid_, &clock) == 0);
    return clock_now(clock);
  }
  // As if it had got more rights than its user.
  void hide() {
    tell('h');
    wait();
  }
  // Which does the like.
  void execute_another_program() {
    tell('x');
    const std::string command = "/proc/" + std::to_string(pid_) + "/comm";
    for (char name[16] = {}; std::strncmp(name, "sh\n", 3) != 0;) {
      const unique_fd file(::open(command.c_str(), O_RDONLY | O_CLOEXEC));
      must(::read(file.get(), name, sizeof(name)) >= 0);
    }
  }
  // If it naps.
  void wake() { tell('w'); }

 private:
  static void must(bool done) {
    if (done) return;
    std::perror("a process for tests");
    std::abort();
  }
  [[noreturn]] static void burn(int ready, int words, bool naps) {
    if (::write(ready, "r", 1) != 1) ::_exit(1);
    for (char word = 0;; word = 0) {
      pollfd told{words, POLLIN, 0};
      if (naps) ::poll(&told, 1, 1);
      (void)!::read(words, &word, 1);  // does not wait
      if (word == 'h') {
        ::prctl(PR_SET_DUMPABLE, 0);
        if (::write(ready, "r", 1) != 1) ::_exit(1);
      } else if (word == 'x') {
        ::execl("/bin/sh", "sh", "-c", naps ? "while :; do sleep 0.002; done" : "while :; do :; done", nullptr);
        ::_exit(1);
      }
    }
  }
  void tell(char word) { must(::write(words_.get(), &word, 1) == 1); }
  void wait() {
    char word = 0;
    must(::read(ready_.get(), &word, 1) == 1);
  }

  pid_t pid_ = 0;
  unique_fd ready_, words_;
};

}  // namespace tarsier::agent
