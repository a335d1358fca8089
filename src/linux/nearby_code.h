// Pages near a library for pieces of code of ours, within reach of its branches. They stay for ever: a thread may come
// back through them at any time.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"

namespace tarsier::linux {

// Where the piece is now. `make` gets that and returns the bytes. Each piece has a page of its own, which is written to
// only before any of it runs: there are a handful.
Result<uint64_t> put_code_near(uint64_t near, const std::function<Result<std::vector<uint8_t>>(uint64_t)>& make);

}  // namespace tarsier::linux
