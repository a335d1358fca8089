// The stack fragment of a thread that sleeps, copied from outside: neither the thread nor the JVM notices. Its record
// is the one that handlers write (capture/fragment_capture.h), so the same decoder reads it.
//
// A thread that sleeps in the kernel has left Java code, and the JVM has noted where (its anchor): registers are not
// needed. Only one that sleeps within Java code, in a page fault, has none; the kernel tells its sp and pc.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>

#include "base/sigsafe/mpsc_ring.h"
#include "base/units.h"
#include "capture/fragment_capture.h"
#include "capture/java_bottoms.h"
#include "hotspot/sigsafe/fragment.h"
#include "hotspot/sigsafe/virtual_thread.h"
#include "linux/self_memory.h"

namespace tarsier::agent {

struct Sleeper {
  pid_t tid = 0;
  uint32_t serial = 0;
  const uint8_t* java_thread = nullptr;  // alive for as long as this is used
};

class SleeperCopy {
 public:
  // All must live as long; `virtual_threads` may be null.
  SleeperCopy(const hotspot::ThreadFields& fields, const hotspot::VirtualThreadLayout* virtual_threads,
              const capture::JavaBottoms& bottoms, MpscRing& ring);

  enum class Outcome : uint8_t { kCopied, kWoken, kRingFull, kUnreadable };
  // `slept`: for how long, so far. `still_asleep` is asked when all has been read: if it has run meanwhile, there is no
  // record.
  Outcome copy(Sleeper& sleeper, Nanos now, Nanos slept, const std::function<bool()>& still_asleep);

 private:
  // False if it can't be read.
  bool look_at(const Sleeper& sleeper, hotspot::Fragment& fragment, uint64_t& stack_base,
               uint64_t& pending_monitor) const;

  const hotspot::ThreadFields& fields_;
  const hotspot::VirtualThreadLayout* const virtual_threads_;
  const capture::JavaBottoms& bottoms_;
  MpscRing& ring_;
  const pid_t self_;
  capture::NamedVirtuals named_virtuals_;
  Nanos names_forgotten_;
  const linux::SelfMemory memory_;  // of our own: what one thread reads need not wait for another
};

}  // namespace tarsier::agent
