// Who records this process. One library has one session slot; but a process may hold several copies of the library (two
// versions, or one file under two paths), and two of them recording at once would fight over signals and clocks. So all
// copies share a few words in a mapping with a name, which the first one makes and the others find in the process's own
// list of mappings. Nobody outside can take it, and it is gone with the process.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/units.h"

namespace tarsier::agent {

// Shared between versions: words may be added at its end, none changed.
struct ProcessClaim {
  enum State : int64_t { kFree, kStarting, kRecording };
  std::atomic<int64_t> state{kFree};
  std::atomic<int64_t> recorder_pid{0};  // the command's, as far as it can be seen from here, or 0
  std::atomic<int64_t> ends_at{0};       // CLOCK_MONOTONIC in ns; 0 if it is open

  [[nodiscard]] bool take();  // false: taken
  void give_back();
};
static_assert(sizeof(ProcessClaim) == 24 && std::atomic<int64_t>::is_always_lock_free);

// The claim that all copies in this process share.
ProcessClaim& process_claim();

}  // namespace tarsier::agent
