// Who has ended a wait, on top of the stack that waited, for a flame graph of both: the waker's frames come innermost
// first, so that from below and from above one comes to the place where the two met.
#pragma once

#include "analysis/model.h"

namespace tarsier::analysis {

// Of a model whose profile is that of waits; passes over stacks then see both.
void put_wakers_on_top(Model& model);

}  // namespace tarsier::analysis
