#include "cli/passed_bytes.h"

#include <fcntl.h>
#include <unistd.h>

namespace tarsier::cli {

void free_passed(int file, const std::vector<recording::ByteRange>& passed) {
  const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  for (const recording::ByteRange& range : passed) {
    const uint64_t begin = (range.begin + page - 1) / page * page, end = range.end / page * page;
    if (begin >= end) continue;
    ::fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin),
                static_cast<off_t>(end - begin));
  }
}

}  // namespace tarsier::cli
