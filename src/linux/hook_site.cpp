#include "linux/hook_site.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "base/unique_fd.h"
#include "base/x86_instruction.h"
#include "linux/elf_functions.h"
#include "linux/function_extents.h"
#include "linux/nearby_code.h"
#include "linux/x86_hook_plan.h"

namespace tarsier::linux {
namespace {

using Bytes = std::vector<uint8_t>;

// What was found out and made for functions of this process; never destroyed: threads run on while it exits.
template <class Key, class Value>
class Once {
 public:
  template <class Make>
  Result<Value> get(const Key& key, const Make& make) {
    const std::lock_guard guard(lock_);
    if (const auto known = values_.find(key); known != values_.end()) return known->second;
    auto made = make();
    if (made) values_.emplace(key, *made);
    return made;
  }

 private:
  std::mutex lock_;
  std::map<Key, Value> values_;
};

Bytes in_memory(uint64_t address, size_t bytes) {
  const auto* begin = reinterpret_cast<const uint8_t*>(address);
  return {begin, begin + bytes};
}

Status same_as_in_file(const HookedFunction& function, size_t bytes) {
  unique_fd file(::open(function.path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return errno_error("opening '" + function.path + "'", errno);
  Bytes in_file(bytes);
  if (::pread(file.get(), in_file.data(), bytes, static_cast<off_t>(function.file_offset)) !=
          static_cast<ssize_t>(bytes) ||
      in_file != in_memory(function.address, bytes)) {
    return Error{Errc::kUnsupported,
                 "the code in memory is not that of '" + function.path + "': somebody else has changed it"};
  }
  return {};
}

#if defined(__aarch64__)

constexpr uint64_t kInstruction = 4;

Bytes bytes_of(std::initializer_list<uint32_t> words) {
  Bytes bytes(words.size() * sizeof(uint32_t));
  std::memcpy(bytes.data(), std::data(words), bytes.size());
  return bytes;
}

// Does an instruction mean the same at another address?
bool can_be_moved(uint32_t w) {
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

Result<HookSite> make_site(const HookedFunction& function) {
  uint32_t first = 0;
  std::memcpy(&first, reinterpret_cast<const void*>(function.address), kInstruction);
  if (!can_be_moved(first)) return Error{Errc::kUnsupported, "its first instruction can't be moved"};
  // Back by a direct branch: an indirect one might have to find a landing pad there.
  auto original = put_code_near(function.address, [&](uint64_t place) -> Result<Bytes> {
    return bytes_of({first, branch(place + kInstruction, function.address + kInstruction)});
  });
  if (!original) return std::move(original).error();
  return HookSite{{function.address, bytes_of({first})}, {}, *original};
}

Result<std::vector<CodeChange>> make_changes(const HookedFunction& function, uint64_t replacement) {
  // ldr x17, replacement; br x17; replacement: .quad. x17 is free at the begin of a function.
  auto jump = put_code_near(function.address, [&](uint64_t) -> Result<Bytes> {
    return bytes_of(
        {0x58000051, 0xd61f0220, static_cast<uint32_t>(replacement), static_cast<uint32_t>(replacement >> 32)});
  });
  if (!jump) return std::move(jump).error();
  return std::vector<CodeChange>{{function.address, bytes_of({branch(function.address, *jump)})}};
}

size_t bytes_looked_at(const HookedFunction&) {
  return kInstruction;
}

#elif defined(__x86_64__)

// As the library is linked; 0: it has no code.
uint64_t linked_address(const ElfFile& library, const HookedFunction& function) {
  const ElfSection* text = library.section(".text");
  return text == nullptr ? 0 : function.file_offset - text->offset + text->address;
}

// Without a symbol. Fails if the unwind tables have no such function either.
Result<uint64_t> unnamed_size(const HookedFunction& function) {
  static auto* known = new Once<uint64_t, uint64_t>;
  return known->get(function.address, [&]() -> Result<uint64_t> {
    const auto library = ElfFile::open(function.path);
    if (!library) return library.error();
    const auto extents = FunctionExtents::read(*library);
    if (!extents) return extents.error();
    const uint64_t begin = linked_address(*library, function);
    const auto* extent = extents->at(begin);
    if (extent == nullptr || extent->begin != begin) return Error{Errc::kUnsupported, "its size is not known"};
    return extent->end - begin;
  });
}

// Of a function whose size nobody knows only the first instruction may be changed: branches might lead to the others.
size_t bytes_looked_at(const HookedFunction& function) {
  if (function.size != 0) return function.size;
  if (const auto size = unnamed_size(function)) return *size;
  constexpr size_t kLongest = 15;
  const auto first = x86::decode(in_memory(function.address, kLongest));
  return first ? first->length : 1;
}

// Bytes between the functions of a library that are there to align them: nothing runs into them. Each gap is used once.
class Padding {
 public:
  explicit Padding(const HookedFunction& function) : function_(function) {}

  std::optional<uint64_t> find(uint64_t from, uint64_t to) {
    if (!functions_ && !read()) return std::nullopt;
    static auto* used = new std::set<uint64_t>;  // see Once, whose lock is held
    constexpr uint64_t kJump = x86::kLongJump, kPage = 4096;
    for (uint64_t at = from; at <= to; ++at) {
      const uint64_t begin = begin_of_gap(at);
      if (begin == 0 || at / kPage != (at + kJump - 1) / kPage) continue;
      bool free = true;
      for (uint64_t byte = at; byte < at + kJump; ++byte) free = free && begin_of_gap(byte) == begin;
      if (!free || !is_padding(begin) || used->contains(begin)) continue;
      used->insert(begin);
      return at;
    }
    return std::nullopt;
  }

 private:
  bool read() {
    auto file = ElfFile::open(function_.path);
    if (!file) return false;
    const ElfSection* text = file->section(".text");
    auto functions = ElfFunctions::read(*file, size_t{64} << 20);
    if (text == nullptr || !functions) return false;
    // Without symbols these alone tell; some functions have only the ones, some only the others.
    if (auto extents = FunctionExtents::read(*file)) extents_ = std::move(*extents);
    base_ = function_.address - linked_address(*file, function_);
    begin_ = base_ + text->address;
    end_ = begin_ + text->size;
    functions_ = std::move(*functions);
    return true;
  }
  [[nodiscard]] bool in_gap(uint64_t at) const {
    return at >= begin_ && at < end_ && functions_->find(at - base_) == nullptr && extents_.at(at - base_) == nullptr;
  }
  // 0: it lies in none.
  [[nodiscard]] uint64_t begin_of_gap(uint64_t at) const {
    constexpr uint64_t kLargest = 64;
    if (!in_gap(at)) return 0;
    uint64_t begin = at;
    while (in_gap(begin - 1)) {
      if (at - --begin > kLargest) return 0;
    }
    return begin;
  }
  [[nodiscard]] bool is_padding(uint64_t begin) const {
    uint64_t at = begin;
    while (in_gap(at)) {
      const auto instruction = x86::decode(std::span(reinterpret_cast<const uint8_t*>(at), end_ - at));
      if (!instruction || instruction->does != x86::Does::kPad) return false;
      at += instruction->length;
    }
    return true;
  }

  HookedFunction function_;
  std::optional<ElfFunctions> functions_;
  FunctionExtents extents_;
  uint64_t base_ = 0, begin_ = 0, end_ = 0;
};

Result<x86::HookPlan> plan_of(const HookedFunction& function) {
  static auto* known = new Once<uint64_t, x86::HookPlan>;
  return known->get(function.address, [&] {
    Padding padding(function);
    const Bytes code = in_memory(function.address, bytes_looked_at(function));
    return x86::plan_hook({function.address, code, function.arguments},
                          [&](uint64_t from, uint64_t to) { return padding.find(from, to); });
  });
}

Result<HookSite> make_site(const HookedFunction& function) {
  const auto plan = plan_of(function);
  if (!plan) return plan.error();
  auto original =
      put_code_near(function.address, [&](uint64_t place) { return x86::moved(*plan, function.address, place); });
  if (!original) return std::move(original).error();
  CodeChange padding{};
  if (plan->padding != 0) padding = {plan->padding, in_memory(plan->padding, x86::kLongJump)};
  return HookSite{{plan->at, in_memory(plan->at, plan->length)}, std::move(padding), *original};
}

Result<std::vector<CodeChange>> make_changes(const HookedFunction& function, uint64_t replacement) {
  const auto plan = plan_of(function);
  if (!plan) return plan.error();
  auto jump =
      put_code_near(function.address, [&](uint64_t) -> Result<Bytes> { return x86::undo_and_go(*plan, replacement); });
  if (!jump) return std::move(jump).error();
  if (plan->padding == 0) return std::vector<CodeChange>{{plan->at, x86::long_jump(plan->at, *jump)}};
  return std::vector<CodeChange>{{plan->padding, x86::long_jump(plan->padding, *jump)},
                                 {plan->at, x86::short_jump(plan->at, plan->padding)}};
}

#endif

}  // namespace

Result<HookSite> find_hook_site(const HookedFunction& function) {
  if (Status same = same_as_in_file(function, bytes_looked_at(function)); !same) return std::move(same).error();
  static auto* known = new Once<uint64_t, HookSite>;
  return known->get(function.address, [&] { return make_site(function); });
}

Result<std::vector<CodeChange>> changes_for(const HookedFunction& function, uint64_t replacement) {
  static auto* known = new Once<std::pair<uint64_t, uint64_t>, std::vector<CodeChange>>;
  return known->get(std::pair(function.address, replacement), [&] { return make_changes(function, replacement); });
}

}  // namespace tarsier::linux
