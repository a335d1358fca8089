// When the JVM as a whole stood still, or collected garbage: as JFR tells it, or our own agent.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace tarsier::analysis {

// In the order of the numbers in the page's data.
enum class PauseKind : uint8_t {
  kCollection,       // from its beginning to its end; parts of it may run beside the program
  kCollectionPause,  // of the program, for one
  kSafepoint,        // from asking the threads to stop until they may go on
};

struct Pause {
  int64_t begin_ns = 0;  // since the epoch
  Nanos length;
  PauseKind kind = PauseKind::kCollection;
  uint32_t name = 0;  // of Pauses::names
};

// All safepoints in some time, by the JVM's counters: what our agent tells of them. The JVM counts a safepoint when it
// begins and its time when it ends, so of one that lasts longer than the interval all of the time is in the last one.
struct SafepointInterval {
  int64_t begin_ns = 0;  // since the epoch
  Nanos length;
  uint64_t count = 0;
  Nanos time;          // from asking the threads to stop until they went on
  Nanos time_to_stop;  // of it until all of them had stopped
};

struct Pauses {
  std::vector<Pause> all{};  // by their begin
  std::vector<std::string> names{};
  std::vector<SafepointInterval> safepoints{};  // by their begin
};

// JFR tells of a safepoint in up to three events: until when all threads had stopped (SafepointBegin), what was done
// then (ExecuteVMOperation) and when they went on (SafepointEnd, which no default setting records). Not all of them
// need be there: what is known is put together.
class PauseCollector {
 public:
  void collection(int64_t begin_ns, int64_t length, std::string_view name, std::string_view cause);
  void collection_pause(int64_t begin_ns, int64_t length, std::string_view name);
  void safepoint_begin(int64_t begin_ns, int64_t length, int64_t id);
  void safepoint_end(int64_t begin_ns, int64_t length, int64_t id);
  void operation(int64_t begin_ns, int64_t length, std::string_view name);
  void safepoints(const SafepointInterval& interval);

  [[nodiscard]] uint64_t collection_pauses() const { return collection_pauses_; }

  [[nodiscard]] Pauses finish() &&;

 private:
  struct Stop {
    int64_t begin_ns;
    int64_t end_ns;
    int64_t id = 0;
    std::string name{};
  };
  uint32_t intern(const std::string& name);
  void add(int64_t begin_ns, int64_t end_ns, PauseKind kind, const std::string& name);
  void put_safepoints_together();

  Pauses pauses_;
  uint64_t collection_pauses_ = 0;
  std::map<std::string, uint32_t> ids_;
  std::vector<Stop> begins_, operations_;
  std::map<int64_t, int64_t> ends_;  // by the safepoint's id
};

}  // namespace tarsier::analysis
