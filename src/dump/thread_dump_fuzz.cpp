#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dump/deadlocks.h"
#include "dump/parse.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto dump = tarsier::dump::parse({reinterpret_cast<const char*>(data), size});
  if (!dump) return 0;
  const auto holders = tarsier::dump::find_holders(*dump);
  for (const auto& deadlock : tarsier::dump::find_deadlocks(*dump, holders)) {
    // Each waits for what the next one holds.
    for (size_t i = 0; i < deadlock.size(); ++i) {
      if (!holders[deadlock[i]] || holders[deadlock[i]]->thread != deadlock[(i + 1) % deadlock.size()])
        __builtin_trap();
    }
  }
  for (const auto& holder : holders) {
    if (holder && holder->frame && *holder->frame >= dump->threads[holder->thread].frames.size()) __builtin_trap();
  }
  return 0;
}
