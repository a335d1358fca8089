// The thread dump that a JVM makes of itself, by its attach mechanism: threaddump -l.
#pragma once

#include <string>

#include "attach/jvm.h"
#include "attach/request.h"
#include "base/result.h"
#include "base/units.h"

namespace tarsier::attach {

// The text as the JVM writes it, which differs between versions. All its threads stand still meanwhile: some
// milliseconds for a thousand of them. kNotPermitted: it does not answer, or not within `limit`.
Result<std::string> take_thread_dump(const Jvm& jvm, const Patience& patience, Nanos limit);

}  // namespace tarsier::attach
