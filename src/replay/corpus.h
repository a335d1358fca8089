// Few fragments of a recording as a recording of their own, with today's results: what the tests keep.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace tarsier::replay {

struct Kept {
  size_t fragments = 0, of = 0;
};

// `out` is replaced; a name that ends in .zst is packed. The input may be the same file.
Result<Kept> write_corpus(const std::string& in, const std::string& out, size_t most);

}  // namespace tarsier::replay
