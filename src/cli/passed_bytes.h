// A recording that is only looked at: what has been read of it needs no disk any more.
#pragma once

#include <vector>

#include "recording/tail.h"

namespace tarsier::cli {

// The file keeps its length.
void free_passed(int file, const std::vector<recording::ByteRange>& passed);

}  // namespace tarsier::cli
