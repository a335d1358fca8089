// The words between the command and the agent. One session is one connection:
//
//   command                               agent (in the JVM)
//     listens on a socket of its own,
//     loads the agent with connect=SOCKET
//                        <- Hello          who I am: pid, JVM, version of the agent
//     Start + descriptor ->                the options and the file to write
//                        <- KernelWanted   (where the JVM may not load eBPF programs: would the command?)
//     KernelLent         ->                (with descriptors, or why not)
//                        <- WaitsWanted    (the same for the programs that find waits)
//     WaitsLent          ->
//                        <- TurnsWanted    (and for the one that follows who is on which CPU)
//     TurnsLent          ->
//                        <- Started        engines that run, or Failed
//                        <- Progress       about once a second
//     Stop               ->                (or hang up: the agent then stops and saves too)
//                        <- Finished       the file is complete, or says what is missing
//
// Each message is a length (4 bytes, little endian, at most kMaxMessage) and a JSON object
// {"tarsier": 1, "type": "...", ...}. Unknown members are ignored, so newer peers may add some.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "control/options.h"

namespace tarsier::control {

constexpr int kProtocolVersion = 1;
constexpr uint32_t kMaxMessage = 1 << 20;

struct Hello {
  std::string agent_version;
  std::string jvm;  // 17.0.15+6-Debian-1
  int64_t pid = 0;  // in the JVM's own pid namespace
};
struct Start {
  SessionOptions options;
  std::string file_name;  // for messages only: the descriptor comes along
  Bytes most_on_disk{};   // of a file that the command frees when it has read it; 0: no bound
};
struct EngineReport {
  std::string name, mechanism, why;
  Nanos interval;
  Bytes interval_bytes;
  bool runs = true;  // false: asked for, but it can't; `why` says so
};
struct Started {
  std::vector<EngineReport> engines;
  std::vector<std::string> warnings;
};
struct Progress {
  Nanos elapsed;
  uint64_t taken = 0, written = 0, dropped = 0, failed = 0;
  Nanos overhead_app, overhead_background;
  Bytes file_size;
  std::string hottest;  // method with the most self time so far; empty if none
  double hottest_share = 0;
};
// Asks for what kernel sampling takes (linux/kernel_loan.h) and the JVM's user has no right to make.
struct KernelWanted {
  std::vector<uint64_t> layout;  // the words of a linux::bpf::JavaLayout
  Bytes ring;
};
struct KernelLent {
  std::string refusal;  // empty: descriptors come along
  Bytes scratch;        // of the kernel's memory that is taken besides the ring
  bool sees_kernel = true, hides_kernel = false;
};
// Likewise what finding waits in the kernel takes (linux/wait_loan.h).
struct WaitsWanted {
  std::vector<uint64_t> layout;
  Bytes ring, copies;
};
struct WaitsLent {
  std::string refusal;
  Bytes maps;  // of the kernel's memory that is taken besides the ring and the copies
};
// Likewise who is on which CPU (linux/turn_loan.h).
struct TurnsWanted {};
struct TurnsLent {
  std::string refusal;
};
struct Stop {};
struct Finished {
  bool complete = true;
  std::string missing;                // what is not in the file and why, if not complete
  std::vector<std::string> warnings;  // that are new since Started
  uint64_t taken = 0, written = 0;
  std::map<std::string, uint64_t> dropped;
  Bytes file_size;
};
struct Failed {
  Errc code = Errc::kFailed;
  std::string what;
};

using Message = std::variant<Hello, Start, KernelWanted, KernelLent, WaitsWanted, WaitsLent, TurnsWanted, TurnsLent,
                             Started, Progress, Stop, Finished, Failed>;

std::string encode(const Message& message);     // the JSON, without the length
Result<Message> decode(std::string_view json);  // never throws, whatever the bytes

}  // namespace tarsier::control
