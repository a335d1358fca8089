// For events that are visited in another order than they lie in memory: fetched some time before, nobody waits for
// them.
#pragma once

#include <cstddef>

namespace tarsier::analysis {

constexpr size_t kPrefetchAhead = 48;  // so many events before it is needed: some tens of them fit into the first cache

// Both lines of the cache that an element may lie on.
template <class Element>
void prefetch(const Element& element) {
  __builtin_prefetch(&element);
  __builtin_prefetch(reinterpret_cast<const char*>(&element) + sizeof(Element) - 1);
}

}  // namespace tarsier::analysis
