#include "linux/function_hook.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>

#include "base/unique_fd.h"

namespace tarsier::linux {
namespace {

uint64_t page_size() {
  return static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

// Everybody sees all of it at once: the bytes must lie in one page.
Status change(const CodeChange& wanted) {
  static std::mutex* one_at_a_time = new std::mutex;  // pages are copied, changed and put back
  const std::lock_guard guard(*one_at_a_time);
  const uint64_t page = page_size(), begin = wanted.at & ~(page - 1);
  if (std::memcmp(reinterpret_cast<const void*>(wanted.at), wanted.bytes.data(), wanted.bytes.size()) == 0) return {};
  void* copy = ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED) return errno_error("memory for a copy of the code", errno);
  std::memcpy(copy, reinterpret_cast<const void*>(begin), page);
  std::memcpy(static_cast<uint8_t*>(copy) + (wanted.at - begin), wanted.bytes.data(), wanted.bytes.size());
  __builtin___clear_cache(static_cast<char*>(copy), static_cast<char*>(copy) + page);
  if (::mprotect(copy, page, PROT_READ | PROT_EXEC) != 0 ||
      ::mremap(copy, page, page, MREMAP_MAYMOVE | MREMAP_FIXED, reinterpret_cast<void*>(begin)) == MAP_FAILED) {
    const int error = errno;
    ::munmap(copy, page);
    return errno_error("putting the changed code in place", error);
  }
  return {};
}

// Other hooks may lie in the same page: only a page that is wholly as the file has it is given back to the file.
Status give_back(const HookedFunction& function, uint64_t at) {
  const uint64_t page = page_size(), begin = at & ~(page - 1);
  const auto offset = static_cast<off_t>(function.file_offset + (begin - function.address));
  unique_fd file(::open(function.path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return {};
  std::string content(page, '\0');
  if (::pread(file.get(), content.data(), page, offset) != static_cast<ssize_t>(page) ||
      std::memcmp(content.data(), reinterpret_cast<const void*>(begin), page) != 0) {
    return {};
  }
  if (::mmap(reinterpret_cast<void*>(begin), page, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file.get(),
             offset) == MAP_FAILED) {
    return errno_error("mapping the library's own code again", errno);
  }
  return {};
}

}  // namespace

Result<FunctionHook> FunctionHook::prepare(const HookedFunction& function) {
  auto site = find_hook_site(function);
  if (!site) return std::move(site).error();
  FunctionHook hook;
  hook.function_ = function;
  hook.site_ = std::move(*site);
  return hook;
}

FunctionHook::FunctionHook(FunctionHook&& other) noexcept
    : function_(std::move(other.function_)), site_(std::move(other.site_)), on_(std::exchange(other.on_, false)) {}

FunctionHook::~FunctionHook() {
  if (on_) (void)take_off();
}

Status FunctionHook::put_on(uint64_t replacement) {
  if (on_) return Error{Errc::kFailed, "the hook is on already"};
  const auto changes = changes_for(function_, replacement);
  if (!changes) return changes.error();
  for (const CodeChange& one : *changes) {
    if (Status status = change(one); !status) return status;
  }
  on_ = true;
  return {};
}

Status FunctionHook::take_off() {
  if (!on_) return {};
  if (Status status = change(site_.undone); !status) return status;
  on_ = false;
  return give_back(function_, site_.undone.at);
}

Status FunctionHook::clear_padding() {
  if (on_) return Error{Errc::kFailed, "the hook is on"};
  if (!uses_padding()) return {};
  if (Status status = change(site_.padding); !status) return status;
  return give_back(function_, site_.padding.at);
}

}  // namespace tarsier::linux
