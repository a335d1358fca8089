// Runs a program that may not open perf events, as in most containers:  forbid_perf ERRNO COMMAND..
// One that dies if it asks for them or for eBPF, as services of systemd do:  forbid_perf kill COMMAND..
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int kills = strcmp(argv[1], "kill") == 0;
  const unsigned answer = kills ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | (unsigned)atoi(argv[1]);
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_perf_event_open, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kills ? __NR_bpf : __NR_perf_event_open, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, answer),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
    perror("forbid_perf");
    return 3;
  }
  execvp(argv[2], argv + 2);
  perror(argv[2]);
  return 127;
}
