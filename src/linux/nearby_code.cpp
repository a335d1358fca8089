#include "linux/nearby_code.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tarsier::linux {

Result<uint64_t> put_code_near(uint64_t near, const std::function<Result<std::vector<uint8_t>>(uint64_t)>& make) {
  const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  constexpr uint64_t kReach = uint64_t{120} << 20;  // of a branch of aarch64; those of x86_64 go further
  const uint64_t from = near & ~(page - 1);
  for (uint64_t distance = uint64_t{1} << 16; distance < kReach; distance += uint64_t{1} << 16) {
    for (const uint64_t wanted : {from - distance, from + distance}) {
      void* at = ::mmap(reinterpret_cast<void*>(wanted), page, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
      if (at == MAP_FAILED) continue;
      if (at != reinterpret_cast<void*>(wanted)) {  // a kernel before 4.17
        ::munmap(at, page);
        continue;
      }
      auto code = make(wanted);
      if (!code) {
        ::munmap(at, page);
        return std::move(code).error();
      }
      std::memcpy(at, code->data(), code->size());
      __builtin___clear_cache(static_cast<char*>(at), static_cast<char*>(at) + code->size());
      if (::mprotect(at, page, PROT_READ | PROT_EXEC) != 0) {
        const int error = errno;
        ::munmap(at, page);
        return errno_error("making code executable", error);
      }
      return wanted;
    }
  }
  return Error{Errc::kUnsupported, "there is no room for code near the library"};
}

}  // namespace tarsier::linux
