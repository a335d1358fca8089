// What a session is asked for: one table of options for the agent string and the control messages. The command's own
// option table (cli) speaks the same words.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace tarsier::control {

constexpr Bytes kMaxAllocInterval{1 << 30};
constexpr Nanos kDefaultInterval = millis(1);
constexpr double kDefaultWaitsBudget = 0.01;
// What is counted if nobody says what.
constexpr std::string_view kDefaultCounters =
    "cycles,instructions,cache-misses,branch-misses,context-switches,cpu-migrations,page-faults";
constexpr Nanos kFinestAccount = millis(10), kCoarsestAccount = seconds(1);
constexpr int kMaxSaveFragments = 1'000'000;

struct SessionOptions {
  // Engines that were named. None: CPU, allocation and who is blocked by monitors, as far as they work.
  bool cpu = false;              // sample where CPU time goes
  bool alloc = false;            // sample who allocates what
  bool waits = false;            // find out who waits for how long
  std::string lock = "";         // blocked, owner: who is blocked by locks, and who holds them
  std::string lock_detail = "";  // rw, semaphore, stamped, latch, by commas: whose holders are told one by one
  bool no_hooks = false;         // nothing in the JVM's code may be changed, whatever is asked for
  std::string engine = "";       // fragment, agct, handshake, safepoint; empty: the best that works
  std::string threads = "";      // only those with such names, an extended regular expression; empty: all
  std::string clock =
      "";             // perf, cputimer, timekeeper, ebpf, perf-rings, wall, itimer, real; empty: the best that works
  Nanos interval{0};  // 0: 1 ms, or the finest that the clock can do
  Nanos duration{0};  // 0: until stopped
  std::string counters = "";  // events of perf's, by commas, to be counted in every thread
  Nanos account{seconds(1)};  // how often it is asked who has used how much CPU time, for what was stolen meanwhile
  std::string steal_by = "";  // schedule: also by who was on which CPU meanwhile; empty: by CPU time alone
  std::string procfs = "";    // instead of /proc for the machine's times; for tests
  Bytes memory{64 << 20};     // bound for everything the agent holds
  int max_depth = 2048;       // frames of one stack
  bool native = false;        // native frames as well, and the JVM's own threads
  Bytes chunk_size{256 << 20};
  Nanos chunk_age{seconds(3600)};
  int save_fragments = 0;  // one of so many is saved; 0: none
  Bytes fragment_size{0};  // of a stack, by signal; 0: as its depth demands. For bench/fragments
  // How stacks are decoded, for tests and bench/incremental. whole: every frame is examined, also those that the
  // thread's last stack had; both: in either way, and the differences are counted; empty: what is known is not examined
  // again.
  std::string walks = "";
  Bytes alloc_interval{512 << 10};  // mean number of bytes between two samples of a thread; 0: every object

  Nanos waits_min{micros(100)};               // shorter waits are only summed up
  Nanos waits_max{0};                         // longer ones, too; 0: there are none
  std::string waits_by = "";                  // ebpf, watcher; empty: ebpf if that works, else watcher
  double waits_budget = kDefaultWaitsBudget;  // of the program's CPU time, by ebpf; 0: whatever it costs

  // Waits are the other half of a thread's time: asked for alone they come with the CPU's.
  [[nodiscard]] bool wants_cpu() const { return cpu || (!alloc && lock.empty()); }
  [[nodiscard]] bool wants_alloc() const { return alloc || !(cpu || waits || !lock.empty()); }
  // Empty: nothing of locks.
  [[nodiscard]] std::string lock_level() const { return lock.empty() && !(cpu || alloc || waits) ? "blocked" : lock; }

  bool operator==(const SessionOptions&) const = default;
};

// The agent string: cpu,interval=1ms,file=out.jfr  or, from the command, connect=SOCKET
struct AgentString {
  SessionOptions session;
  std::string file;     // the recording to write; not with `connect`
  std::string connect;  // the command's control socket; the options come over it
};

Result<AgentString> parse_agent_string(std::string_view text);
// The options as an agent string, defaults left out; what tarsier.Session records.
std::string to_agent_string(const SessionOptions& options);

}  // namespace tarsier::control
