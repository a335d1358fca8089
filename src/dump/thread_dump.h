// What a JVM says about its threads: plain data, made by parse.h of the JVM's own thread dump.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tarsier::dump {

// All text in here is the program's: valid UTF-8, and otherwise anything.

struct Lock {
  uint64_t address = 0;  // of the object, at the time of the dump; 0: the JVM did not tell
  std::string klass;     // java.lang.Class for Foo
};

struct Frame {
  std::string method;    // package.Class.method
  std::string location;  // Main.java:12, Native Method, Unknown Source
};

enum class LockKind : uint8_t { kMonitor, kSynchronizer };

struct HeldLock {
  LockKind kind = LockKind::kMonitor;
  Lock lock;
  std::optional<size_t> frame;  // that entered it; none for a synchronizer, where nobody knows
};

enum class Wait : uint8_t {
  kMonitor,    // wants to enter it, or to come back to it after Object.wait
  kNotify,     // in Object.wait
  kParked,     // parked; the lock is what it said that it waits for
  kClassInit,  // for another thread to initialize the class
};

struct Awaited {
  Wait how = Wait::kMonitor;
  Lock lock;
};

struct Thread {
  std::string name;
  int64_t id = 0;         // Thread.getId()
  int64_t native_id = 0;  // of the kernel, in the JVM's namespace
  bool daemon = false;
  int priority = 0;              // 0: not told
  std::optional<double> cpu_ms;  // 11 and later
  std::optional<double> elapsed_s;
  std::string state;               // of Thread.State: RUNNABLE; empty if not told
  std::string state_detail;        // on object monitor, parking, sleeping; may be empty
  std::optional<int64_t> carries;  // the id of the virtual thread that is mounted on it
  std::vector<Frame> frames;       // innermost first
  std::vector<HeldLock> holds;     // those of inner frames first; a monitor once for each frame that entered it
  std::optional<Awaited> awaits;

  // The wait ends by itself.
  [[nodiscard]] bool is_timed() const { return state == "TIMED_WAITING"; }
};

struct ThreadDump {
  std::string time;  // as the JVM writes it; may be empty
  std::string vm;    // OpenJDK 64-Bit Server VM (17.0.15+6 mixed mode)
  std::vector<Thread> threads;
  size_t missing = 0;  // threads that the JVM announced, and that were not found in its text
};

}  // namespace tarsier::dump
