// Any bytes at all as an archive: unpacking may say no; it may not crash, hang or write more than its limit.
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstdlib>

#include "archive/unpack.h"
#include "base/unique_fd.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr uint64_t kLimit = 1 << 20;
  const tarsier::unique_fd file(::memfd_create("unpacked", MFD_CLOEXEC));
  const auto unpacked = tarsier::archive::unpack({data, size}, file.get(), {kLimit, 1});
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return 0;
  const auto length = static_cast<uint64_t>(info.st_size);
  if (length > std::max<uint64_t>(kLimit, size) || (unpacked && unpacked->bytes != length)) std::abort();
  return 0;
}
