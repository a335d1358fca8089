#include <cstddef>
#include <cstdint>

#include "classfile/insert_calls.h"

using tarsier::classfile::Argument;
using tarsier::classfile::insert_calls;
using tarsier::classfile::Insertion;
using tarsier::classfile::Place;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using Kind = Argument::Kind;
  static const std::vector<Insertion> calls = [] {
    std::vector<Insertion> made;
    for (const char* method : {"m", "<init>", "run", "workLoop", "workTable", "workNew", "workHandlers", "workFar"}) {
      made.push_back({method, "", Place::kEntry, "P", "b", {{Kind::kLong, 7}, {Kind::kInt, 70'000}}});
      made.push_back({method, "", Place::kReturn, "P", "e", {{Kind::kInt, 3}}});
    }
    made.push_back(
        {"workTable", "", Place::kReturn, "P", "e", {{Kind::kResult}, {Kind::kThis}, {Kind::kParameter, 2}}});
    return made;
  }();
  const auto made = insert_calls({data, size}, calls);
  if (!made) return 0;
  // What was made is as good as what was there: read again, nothing of it changes.
  const auto again = insert_calls(made->bytes, {});
  if (!again || again->bytes != made->bytes) __builtin_trap();
  // And once more, with calls: whatever was possible stays so, but for the lack of room.
  (void)insert_calls(made->bytes, calls);
  return 0;
}
