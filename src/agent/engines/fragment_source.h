// Where the fragments of an engine come from that sends no signals: the kernel copies them, in one way or another.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "agent/engines/engine.h"
#include "agent/thread_registry.h"
#include "base/result.h"
#include "capture/fragment_capture.h"
#include "capture/java_bottoms.h"

namespace tarsier::agent {

class FragmentSource : public ThreadListener {
 public:
  using Visit = std::function<void(const capture::FragmentRecord&)>;

  // Before it is told of threads.
  virtual Status start() = 0;
  // Any thread: no fragment is taken any more when it returns.
  virtual void silence() noexcept = 0;

  // The rest is the session thread's.
  // Visits the samples that there are, `at_most` so many; returns how many there were.
  virtual size_t consume(const Visit& visit, size_t at_most) = 0;
  // Bytes of the ring that they wait in.
  [[nodiscard]] virtual size_t used() const = 0;
  // About once a second: visits those that had to wait for something.
  virtual void settle(const Visit&) {}
  // After silence(), when no thread comes or goes any more: what has been taken can be consumed.
  virtual void finish() {}
  // The decoder tells where stacks end.
  virtual capture::JavaBottoms& bottoms() = 0;
  // What has become of the samples on the way here.
  virtual void add_to(EngineStats& stats) const = 0;
  [[nodiscard]] virtual std::vector<std::string> warnings() const = 0;
};

}  // namespace tarsier::agent
