// All that was read to learn about a method: if it is still the same, so is the method. There is one for every method
// that was ever seen, so it is kept small: where it was read, and a hash of what.
#pragma once

#include <cstdint>
#include <vector>

#include "base/memory.h"

namespace tarsier::hotspot {

class MethodEvidence {
 public:
  void note(Address at, const void* bytes, size_t size);
  // `more`: has to hold as well.
  [[nodiscard]] bool holds(const Memory& memory, const MethodEvidence& more) const;
  [[nodiscard]] size_t memory_used() const { return places_.capacity() * sizeof(Place); }
  // Nothing will be added.
  void finish() { places_.shrink_to_fit(); }

 private:
  struct Place {
    uint64_t at : 48;
    uint64_t size : 16;
  };
  [[nodiscard]] bool matches(const uint8_t*& bytes) const;

  std::vector<Place> places_;
  uint64_t hash_ = 0;
  bool is_whole_ = true;  // all of it could be noted
};

}  // namespace tarsier::hotspot
