// Small files that others write (procfs, hsperfdata, a JDK's release file), read whole and with a bound.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace tarsier::attach {

// At most `limit` bytes; what lies behind is left unread. Regular and procfs files only: a pipe or a device planted
// under the name is refused instead of waited for.
Result<std::string> read_text_file(const std::string& path, size_t limit);
Result<std::string> read_text_fd(int fd, size_t limit);

}  // namespace tarsier::attach
