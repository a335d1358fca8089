#include "hotspot/method_evidence.h"

#include <array>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tarsier::hotspot {

void MethodEvidence::note(Address at, const void* bytes, size_t size) {
  const Place place{.at = at & 0xffff'ffff'ffff, .size = size & 0xffff};
  if (place.at != at || place.size != size) {
    is_whole_ = false;
    return;
  }
  places_.push_back(place);
  hash_ = XXH3_64bits_withSeed(bytes, size, hash_);
}

bool MethodEvidence::matches(const uint8_t*& bytes) const {
  uint64_t hash = 0;
  for (const Place& place : places_) {
    hash = XXH3_64bits_withSeed(bytes, place.size, hash);
    bytes += place.size;
  }
  return hash == hash_;
}

bool MethodEvidence::holds(const Memory& memory, const MethodEvidence& more) const {
  if (!is_whole_ || !more.is_whole_) return false;
  size_t size = 0;
  const std::array<const MethodEvidence*, 2> both = {this, &more};
  for (const MethodEvidence* evidence : both) {
    for (const Place& place : evidence->places_) size += place.size;
  }
  std::vector<uint8_t> now(size);
  std::vector<MemoryPiece> pieces;
  pieces.reserve(places_.size() + more.places_.size());
  uint8_t* out = now.data();
  for (const MethodEvidence* evidence : both) {
    for (const Place& place : evidence->places_) {
      pieces.push_back({out, static_cast<Address>(place.at), place.size});
      out += place.size;
    }
  }
  if (!memory.copy_all(pieces)) return false;
  const uint8_t* bytes = now.data();
  return matches(bytes) && more.matches(bytes);
}

}  // namespace tarsier::hotspot
