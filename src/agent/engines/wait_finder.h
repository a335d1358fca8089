// Who finds waits: the watcher (wait_watcher.h), which needs no right, or the kernel (kernel_waits.h).
#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "agent/engines/engine.h"
#include "agent/engines/thread_times.h"
#include "agent/thread_registry.h"
#include "base/result.h"
#include "capture/fragment_capture.h"
#include "linux/bpf/waits_layout.h"

namespace tarsier::agent {

class WaitFinder : public ThreadListener {
 public:
  // The threads that there are have been made known by now.
  virtual Status start() = 0;
  // Any thread: no further wait is found when it returns.
  virtual void stop() noexcept = 0;

  // The rest is the session thread's.
  using Visit = std::function<void(const capture::FragmentRecord&)>;
  virtual size_t consume(const Visit& visit, size_t at_most) = 0;
  // Whoever knows who wakes threads says it during consume(), before the wait that is over. The second is the waker's
  // stack; null if there is none.
  using VisitWaker = std::function<void(const linux::bpf::Waker&, const capture::FragmentRecord*)>;
  void on_waker(VisitWaker visit) { visit_waker_ = std::move(visit); }
  // Where the decoder notes what need not be copied.
  virtual capture::JavaBottoms& bottoms() = 0;
  // Frames are missing from what was copied of the thread's stack.
  virtual void stack_was_cut(uint32_t /*thread*/) {}
  // After stop(): ends the account of some thread; a wait that goes on is said to be ongoing. False if there is none
  // left. To be called with room for a record.
  virtual bool close_one() = 0;
  // Of threads of which they have changed since the last call.
  virtual std::vector<ThreadTimes> changed_times() = 0;
  // CPU time that their stacks have taken in the application's threads; and from now on only such a share gets one, by
  // chance. The others are counted.
  virtual Nanos cost_of_stacks() { return Nanos(0); }
  virtual void keep_share(double /*share*/) {}
  // taken, dropped, counters, memory
  virtual void add_to(EngineStats& stats) = 0;

 protected:
  VisitWaker visit_waker_;
};

}  // namespace tarsier::agent
