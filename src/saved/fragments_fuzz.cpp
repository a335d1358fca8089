// Any bytes at all as a recording with saved fragments: reading and decoding them may say no; it may not crash or hang.
#include <cstdint>

#include "hotspot/lone_walk.h"
#include "hotspot/noted_rules.h"
#include "recording/reader.h"
#include "saved/fragment_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tarsier;
  auto recording = recording::Recording::over({data, size});
  if (!recording) return 0;
  const auto read = saved::read_fragments(**recording, [](const saved::SavedJvm& jvm, const saved::SavedMemory& memory,
                                                          const saved::SavedFragment& fragment) {
    const hotspot::SavedRules rules(fragment.rules);
    (void)hotspot::walk_alone(memory, jvm.kind(), rules, fragment.walk());
  });
  (void)read;
  return 0;
}
