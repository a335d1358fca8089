#include "linux/import_hook.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <utility>

#include "linux/import_slots.h"
#include "linux/loaded_elf.h"
#include "linux/mappings.h"

namespace tarsier::linux {

Result<ImportHook> ImportHook::prepare(const LoadedLibrary& library, std::string_view function) {
  auto file = open_loaded(library);
  if (!file) return std::move(file).error();
  const auto slots = import_slots(*file);
  const auto slot = std::find_if(slots.begin(), slots.end(), [&](const auto& one) { return one.second == function; });
  if (slot == slots.end()) {
    return Error{Errc::kUnsupported, "'" + library.path + "' does not call " + std::string(function)};
  }
  ImportHook hook;
  hook.name_ = function;
  hook.slot_ = library.base + slot->first;
  hook.original_ = *reinterpret_cast<const volatile uint64_t*>(hook.slot_);
  // Until it is called for the first time the slot may lead to code of the library that looks for it.
  if (hook.original_ == 0 || (hook.original_ >= library.code_begin && hook.original_ < library.code_end)) {
    return Error{Errc::kUnsupported, "'" + library.path + "' has not looked for " + std::string(function) + " yet"};
  }
  return hook;
}

ImportHook::ImportHook(ImportHook&& other) noexcept
    : name_(std::move(other.name_)),
      slot_(other.slot_),
      original_(other.original_),
      replacement_(std::exchange(other.replacement_, 0)) {}

ImportHook::~ImportHook() {
  (void)take_off();
}

Status ImportHook::put_on(uint64_t replacement) {
  if (replacement_ != 0) return Error{Errc::kFailed, "the hook is on already"};
  if (Status status = exchange(original_, replacement); !status) return status;
  replacement_ = replacement;
  return {};
}

Status ImportHook::take_off() {
  if (replacement_ == 0) return {};
  if (Status status = exchange(replacement_, original_); !status) return status;
  replacement_ = 0;
  return {};
}

Status ImportHook::exchange(uint64_t expected, uint64_t value) const {
  static std::mutex* one_at_a_time = new std::mutex;  // several slots lie in one page
  const std::lock_guard guard(*one_at_a_time);
  const auto page_size = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  void* page = reinterpret_cast<void*>(slot_ & ~(page_size - 1));
  // The linker protects these pages when it has filled them.
  const bool is_protected = !mapping_is_writable(slot_);
  if (is_protected && ::mprotect(page, page_size, PROT_READ | PROT_WRITE) != 0) {
    return errno_error("making the address of " + name_ + " writable", errno);
  }
  auto& slot = *reinterpret_cast<std::atomic<uint64_t>*>(slot_);
  const bool done = slot.compare_exchange_strong(expected, value);
  if (is_protected) (void)::mprotect(page, page_size, PROT_READ);
  if (!done) return Error{Errc::kFailed, "somebody else has exchanged the address of " + name_};
  return {};
}

}  // namespace tarsier::linux
