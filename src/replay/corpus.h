// Few fragments of a recording as a recording of their own, with today's results: what the tests keep.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace tarsier::replay {

struct Kept {
  size_t fragments = 0, of = 0;
};

struct Choice {
  size_t most = 20;  // those that differ most
  size_t only = 0;   // just this one, counted from 1; 0: it does not matter which
};

// `out` is replaced; a name that ends in .zst is packed. The input may be the same file.
Result<Kept> write_corpus(const std::string& in, const std::string& out, const Choice& choice);

}  // namespace tarsier::replay
