// The handlers of events about collections and safepoints.
#include "analysis/bounded_numbers.h"
#include "analysis/loader.h"

namespace tarsier::analysis {

using recording::Chunk;
using recording::EventView;

void Loader::collection(const Chunk&, const EventView& event, const Fields& fields) {
  pauses_.collection(event.start().count, event.number(fields[0]), event.string(fields[1]), event.string(fields[2]));
}

void Loader::collection_pause(const Chunk&, const EventView& event, const Fields& fields) {
  pauses_.collection_pause(event.start().count, event.number(fields[0]), event.string(fields[1]));
}

void Loader::safepoint_begin(const Chunk&, const EventView& event, const Fields& fields) {
  pauses_.safepoint_begin(event.start().count, event.number(fields[0]), event.number(fields[1]));
}

void Loader::safepoint_end(const Chunk&, const EventView& event, const Fields& fields) {
  pauses_.safepoint_end(event.start().count, event.number(fields[0]), event.number(fields[1]));
}

void Loader::safepoints(const Chunk&, const EventView& event, const Fields& fields) {
  pauses_.safepoints({.begin_ns = event.start().count,
                      .length = as_nanos(event.number(fields[0])),
                      .count = as_count(event.number(fields[1])),
                      .time = as_nanos(event.number(fields[2])),
                      .time_to_stop = as_nanos(event.number(fields[3]))});
}

void Loader::vm_operation(const Chunk&, const EventView& event, const Fields& fields) {
  // Others run beside the program.
  if (event.number(fields[2]) == 0) return;
  pauses_.operation(event.start().count, event.number(fields[0]), event.string(fields[1]));
}

}  // namespace tarsier::analysis
