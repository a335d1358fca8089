// The immutable model of a recording: everything the passes and views need, in columns, without the file.
// Built once by load(); passes are pure functions over it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/deadlock.h"
#include "analysis/lock_events.h"
#include "analysis/machine.h"
#include "analysis/pauses.h"
#include "analysis/profile.h"
#include "analysis/samples.h"
#include "base/result.h"
#include "base/units.h"
#include "recording/constants.h"
#include "recording/thread_time.h"

namespace tarsier::analysis {

using recording::FrameType;

struct Method {
  std::string name;        // package.Class.method; for non-Java frames the bare symbol or marker
  std::string descriptor;  // (I)V; empty for non-Java frames
};

// Stacks share their outer part: each node is one frame, its parent the caller. Node 0 is the root; every other node
// comes after its parent, so one loop over the indices sees callers first (backwards: callees first).
struct StackNode {
  StackIndex parent{};
  MethodIndex method{};
  int32_t line = 0;
  int32_t bci = 0;
  FrameType type = FrameType::kJava;
};

// Their order is that of the numbers in the page's data: new ones come last.
enum class ThreadKind : uint8_t { kApp, kGc, kJit, kVm, kTarsier, kOther, kJfr };
std::string_view thread_kind_name(ThreadKind kind);  // app gc jit vm tarsier other jfr

struct Thread {
  int64_t os_id = 0;
  int64_t java_id = 0;
  std::string name;
  std::string group;  // Java's, of threads; empty: not known
  bool is_virtual = false;
  ThreadKind kind = ThreadKind::kApp;
  bool sampled = false;      // an engine samples it
  std::optional<Nanos> cpu;  // by the kernel's account, if recorded; with that of virtual threads that it carried
  Nanos carried{};           // what the samples of those stand for
  Resources resources{};
};

// What became of a thread's time, by the kernel's account, with what waits are made of.
struct ThreadTime {
  struct Part {
    Nanos time;
    uint64_t count = 0;  // of waits
  };
  std::array<Part, static_cast<size_t>(recording::TimePart::kCount)> parts{};

  [[nodiscard]] const Part& of(recording::TimePart part) const { return parts[static_cast<size_t>(part)]; }
  [[nodiscard]] Nanos life() const {
    Nanos sum;
    for (const Part& part : parts) sum += part.time;
    return sum;
  }
  [[nodiscard]] Nanos waiting() const {
    return life() - of(recording::TimePart::kCpu).time - of(recording::TimePart::kQueue).time;
  }
};

// Who has ended a wait: a Java thread, another thread of the JVM, another process, a timer or a device; nobody yet.
enum class WokenBy : uint8_t { kUnknown, kThread, kJvm, kProcess, kInterrupt, kOngoing, kCount };
std::string_view woken_by_name(WokenBy by);  // as recordings and the JSON have it

struct WaitInfo {
  uint8_t kind = 0;  // of Model::wait_kinds
  bool ongoing = false;
  WokenBy woken_by = WokenBy::kUnknown;
  bool has_waker = false;    // `waker` is known
  ThreadIndex waker{};       // by kThread and kJvm
  StackIndex waker_stack{};  // 0: none
  uint32_t process = 0;      // by kProcess: of Model::waker_processes
};

struct Engine {
  std::string name{}, mechanism{}, why{};
  Nanos interval{};
  Bytes interval_bytes{};  // of allocation
  uint64_t taken = 0, written = 0, failed = 0;
  std::map<std::string, uint64_t> dropped{};  // by cause, "in flight" included; taken = written + sum
  std::map<std::string, int64_t> counters{};

  [[nodiscard]] bool is_alloc() const { return name == "alloc"; }
  [[nodiscard]] bool is_waits() const { return name == "waits"; }
  [[nodiscard]] bool is_lock() const { return name == "lock"; }          // takes events, not samples
  [[nodiscard]] bool is_counters() const { return name == "counters"; }  // takes nothing, but reads
  [[nodiscard]] bool is_pauses() const { return name == "pauses"; }      // of the JVM as a whole
  [[nodiscard]] bool takes_samples() const { return !is_lock() && !is_counters() && !is_pauses(); }
  [[nodiscard]] bool samples_for(Profile profile) const {
    if (profile == Profile::kLocks || profile == Profile::kOwners) return is_lock();
    return takes_samples() && is_alloc() == (profile == Profile::kAlloc) && is_waits() == (profile == Profile::kWaits);
  }
  // Asked for, but the JVM or another agent did not let it.
  [[nodiscard]] bool is_missing() const { return mechanism == "none"; }
};

struct LockBlame;

struct Model {
  // recording
  std::string file;
  std::string jvm;       // "17.0.15+6-Debian"; empty if the recording does not say
  std::string producer;  // "tarsier 0.1.0", or "jfr" for recordings of others
  int64_t pid = 0;
  int cpus = 0;
  bool attached = false;
  int64_t start_ns = 0;         // since the epoch
  int64_t clock_offset_ns = 0;  // since the epoch, of the zero of the recording's own clock; ours is CLOCK_MONOTONIC
  Nanos duration;
  std::vector<Engine> engines;
  Nanos overhead_app, overhead_background;
  std::vector<std::string> problems;  // what the reader had to skip
  bool damaged = false;

  std::vector<Method> methods;
  std::vector<StackNode> stacks;
  std::vector<Thread> threads;
  // In the order of the file; the sum of their weights, in the profile's unit, fits into 62 bits.
  Profile profile = Profile::kCpu;
  Samples samples;
  std::array<Samples, static_cast<size_t>(Profile::kCount)> others;  // of the other kinds: see samples_of()
  // For how many objects each allocation sample stands, in their order; 0: not known. The class is its innermost frame.
  std::vector<float> alloc_objects;
  // Of each wait, in their order, and the names of the kinds.
  std::vector<WaitInfo> waits;
  std::vector<std::string> wait_kinds;
  std::vector<std::string> waker_processes;  // names of other processes that have woken threads of this one
  LockEvents locks;
  Nanos lock_stretch{};  // in stretches of this length since the start contentions are added up: see lock_samples.h
  bool locks_are_of_part = false;  // contentions are added up of a part of the time only
  std::vector<Deadlock> deadlocks;
  std::shared_ptr<const LockBlame> lock_blame;     // see lock_blame.h; none if the model was not loaded
  std::map<ThreadIndex, ThreadTime> thread_times;  // of those that an engine kept account of
  std::map<ThreadIndex, Counters> thread_counters;
  std::optional<MachineCpu> machine;  // none if it was not recorded
  std::vector<MachineMoment> machine_over_time;
  std::map<ThreadIndex, std::vector<StealPoint>> steal_points;
  Pauses pauses;           // of the JVM as a whole
  bool corrected = false;  // weights and CPU times are without what was stolen
  // CPU time of threads that no engine samples, by kind, by the kernel's account; our own thread is not among them.
  std::map<ThreadKind, Nanos> unsampled_cpu;
};

class LockPass;

// Recordings of JFR itself have no weights: each of their samples then stands for its period, or for 1 ns if unknown.
// What shall be known of locks is asked beforehand, by `locks`: of a large recording their events are not kept.
Result<Model> load(const std::string& path, LockPass* locks = nullptr);

}  // namespace tarsier::analysis
