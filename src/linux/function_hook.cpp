#include "linux/function_hook.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "base/unique_fd.h"

namespace tarsier::linux {
namespace {

constexpr uint64_t kInstruction = 4;

uint64_t page_size() {
  return static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

// Does an instruction of aarch64 mean the same at another address?
[[maybe_unused]] bool can_be_moved(uint32_t w) {
  const bool addresses = (w & 0x1f000000) == 0x10000000;      // adr, adrp
  const bool loads_literal = (w & 0x3b000000) == 0x18000000;  // ldr x, label
  const bool branches = (w & 0x7c000000) == 0x14000000 ||     // b, bl
                        (w & 0xff000000) == 0x54000000 ||     // b.cond
                        (w & 0x7e000000) == 0x34000000 ||     // cbz, cbnz
                        (w & 0x7e000000) == 0x36000000;       // tbz, tbnz
  return !addresses && !loads_literal && !branches;
}

uint32_t branch(uint64_t from, uint64_t to) {
  return 0x14000000U | (static_cast<uint32_t>(static_cast<int64_t>(to - from) >> 2) & 0x3ffffff);
}

// Pages near a library for pieces of code of ours, within reach of its branches. They stay: a thread may come back
// through them at any time.
class NearbyCode {
 public:
  static NearbyCode& of_process() {
    static NearbyCode* code = new NearbyCode;  // never destroyed: threads run on while the process exits
    return *code;
  }

  // Code that does what the function does.
  Result<uint64_t> original_of(uint64_t function, uint32_t first) {
    const std::lock_guard guard(lock_);
    if (const auto known = originals_.find(function); known != originals_.end()) return known->second;
    // Back by a direct branch: an indirect one might have to find a landing pad there.
    auto at = put(function, [&](uint64_t place) {
      return Piece{first, branch(place + kInstruction, function + kInstruction)};
    });
    if (at) originals_[function] = *at;
    return at;
  }
  // Code within reach of the function that goes to `replacement`.
  Result<uint64_t> jump_to(uint64_t function, uint64_t replacement) {
    const std::lock_guard guard(lock_);
    const auto key = std::pair(function, replacement);
    if (const auto known = jumps_.find(key); known != jumps_.end()) return known->second;
    // ldr x17, replacement; br x17; replacement: .quad. x17 is free at the begin of a function.
    auto at = put(function, [&](uint64_t) {
      return Piece{0x58000051, 0xd61f0220, static_cast<uint32_t>(replacement),
                   static_cast<uint32_t>(replacement >> 32)};
    });
    if (at) jumps_[key] = *at;
    return at;
  }

 private:
  using Piece = std::array<uint32_t, 4>;

  // A page is written to only before any of it runs; each piece gets a page of its own: there are a handful.
  template <class Make>
  static Result<uint64_t> put(uint64_t near, const Make& make) {
    const uint64_t page = page_size();
    constexpr uint64_t kReach = uint64_t{120} << 20;
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
        const Piece code = make(wanted);
        std::memcpy(at, code.data(), sizeof(code));
        __builtin___clear_cache(static_cast<char*>(at), static_cast<char*>(at) + sizeof(code));
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

  std::mutex lock_;
  std::map<uint64_t, uint64_t> originals_;
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> jumps_;
};

}  // namespace

Result<FunctionHook> FunctionHook::prepare(const std::string& path, uint64_t function, uint64_t file_offset) {
#if defined(__aarch64__)
  FunctionHook hook;
  hook.path_ = path;
  hook.function_ = function;
  hook.file_offset_ = file_offset;
  std::memcpy(&hook.first_, reinterpret_cast<const void*>(function), kInstruction);
  unique_fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return errno_error("opening '" + path + "'", errno);
  uint32_t in_file = 0;
  if (::pread(file.get(), &in_file, kInstruction, static_cast<off_t>(file_offset)) != kInstruction ||
      in_file != hook.first_) {
    return Error{Errc::kUnsupported, "the code in memory is not that of '" + path + "': somebody else has changed it"};
  }
  if (!can_be_moved(hook.first_)) return Error{Errc::kUnsupported, "its first instruction can't be moved"};
  auto original = NearbyCode::of_process().original_of(function, hook.first_);
  if (!original) return std::move(original).error();
  hook.original_ = *original;
  return hook;
#else
  (void)path, (void)function, (void)file_offset;
  return Error{Errc::kUnsupported, "functions are hooked on aarch64 only, so far"};
#endif
}

FunctionHook::FunctionHook(FunctionHook&& other) noexcept
    : path_(std::move(other.path_)),
      function_(other.function_),
      file_offset_(other.file_offset_),
      original_(other.original_),
      first_(other.first_),
      on_(std::exchange(other.on_, false)) {}

FunctionHook::~FunctionHook() {
  if (on_) (void)take_off();
}

Status FunctionHook::put_on(uint64_t replacement) {
  if (on_) return Error{Errc::kFailed, "the hook is on already"};
  auto jump = NearbyCode::of_process().jump_to(function_, replacement);
  if (!jump) return std::move(jump).error();
  if (Status status = change(branch(function_, *jump)); !status) return status;
  on_ = true;
  return {};
}

Status FunctionHook::take_off() {
  if (!on_) return {};
  const uint64_t page = page_size(), begin = function_ & ~(page - 1);
  const uint64_t offset = file_offset_ - (function_ - begin);
  if (Status status = change(first_); !status) return status;
  on_ = false;
  // Other hooks may lie in the same page: only a page that is wholly as the file has it is given back to the file.
  unique_fd file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return {};
  const std::string content(page, '\0');
  if (::pread(file.get(), const_cast<char*>(content.data()), page, static_cast<off_t>(offset)) !=
          static_cast<ssize_t>(page) ||
      std::memcmp(content.data(), reinterpret_cast<const void*>(begin), page) != 0) {
    return {};
  }
  if (::mmap(reinterpret_cast<void*>(begin), page, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file.get(),
             static_cast<off_t>(offset)) == MAP_FAILED) {
    return errno_error("mapping the library's own code again", errno);
  }
  return {};
}

Status FunctionHook::change(uint32_t instruction) {
  static std::mutex* one_at_a_time = new std::mutex;  // pages are copied, changed and put back
  const std::lock_guard guard(*one_at_a_time);
  const uint64_t page = page_size(), begin = function_ & ~(page - 1);
  void* copy = ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED) return errno_error("memory for a copy of the code", errno);
  std::memcpy(copy, reinterpret_cast<const void*>(begin), page);
  std::memcpy(static_cast<uint8_t*>(copy) + (function_ - begin), &instruction, kInstruction);
  __builtin___clear_cache(static_cast<char*>(copy), static_cast<char*>(copy) + page);
  if (::mprotect(copy, page, PROT_READ | PROT_EXEC) != 0 ||
      ::mremap(copy, page, page, MREMAP_MAYMOVE | MREMAP_FIXED, reinterpret_cast<void*>(begin)) == MAP_FAILED) {
    const int error = errno;
    ::munmap(copy, page);
    return errno_error("putting the changed code in place", error);
  }
  return {};
}

}  // namespace tarsier::linux
