#include "linux/call_graph.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <span>

#include "linux/function_extents.h"
#include "linux/import_slots.h"

namespace tarsier::linux {
namespace {

template <class T>
T read_at(std::span<const uint8_t> bytes, uint64_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

// The lowest `bits` of it, as a signed number.
int64_t extended(uint64_t value, int bits) {
  return static_cast<int64_t>(value << (64 - bits)) >> (64 - bits);
}

// Calls `visit(address, target)` for each direct call and jump of the code, at `address`. Of x86_64, whose
// instructions have no fixed size, for whatever looks like one.
template <class Visit>
void for_each_jump(std::span<const uint8_t> code, uint64_t address, uint16_t machine, const Visit& visit) {
  if (machine == EM_AARCH64) {
    constexpr uint32_t kCallOrJump = 0x14000000;  // bl, b: the highest bit tells
    for (uint64_t at = 0; at + 4 <= code.size(); at += 4) {
      const auto word = read_at<uint32_t>(code, at);
      if ((word & 0x7c000000) != kCallOrJump) continue;
      visit(address + at, address + at + static_cast<uint64_t>(extended(word & 0x3ffffff, 26) * 4));
    }
  } else {
    constexpr uint64_t kSize = 5;  // call, jmp: e8 or e9, and how far from behind it
    for (uint64_t at = 0; at + kSize <= code.size(); ++at) {
      if ((code[at] & 0xfe) != 0xe8) continue;
      visit(address + at, address + at + kSize + static_cast<uint64_t>(int64_t{read_at<int32_t>(code, at + 1)}));
    }
  }
}

// The pieces of code by which functions of other libraries are called: `visit(its address, the slot it jumps through)`.
template <class Visit>
void for_each_linkage(std::span<const uint8_t> code, uint64_t address, uint16_t machine, const Visit& visit) {
  if (machine == EM_AARCH64) {
    constexpr uint32_t kLandingPad = 0xd503245f;
    for (uint64_t at = 0; at + 8 <= code.size(); at += 4) {
      // adrp x16, page; ldr x17, [x16, #offset]
      const auto page = read_at<uint32_t>(code, at), load = read_at<uint32_t>(code, at + 4);
      if ((page & 0x9f00001f) != 0x90000010 || (load & 0xffc003ff) != 0xf9400211) continue;
      const uint64_t pages = ((page >> 5 & 0x7ffff) << 2) | (page >> 29 & 3);
      const uint64_t slot = ((address + at) & ~uint64_t{0xfff}) + static_cast<uint64_t>(extended(pages, 21) * 4096) +
                            uint64_t{load >> 10 & 0xfff} * 8;
      const bool padded = at >= 4 && read_at<uint32_t>(code, at - 4) == kLandingPad;
      visit(address + at - (padded ? 4 : 0), slot);
    }
  } else {
    constexpr uint64_t kSize = 6;  // jmp *offset(%rip), maybe with a prefix and behind a landing pad
    constexpr uint8_t kLandingPad[] = {0xf3, 0x0f, 0x1e, 0xfa};
    for (uint64_t at = 0; at + kSize <= code.size(); ++at) {
      if (code[at] != 0xff || code[at + 1] != 0x25) continue;
      uint64_t begin = at;
      if (begin >= 1 && code[begin - 1] == 0xf2) --begin;
      if (begin >= 4 && std::memcmp(code.data() + begin - 4, kLandingPad, 4) == 0) begin -= 4;
      visit(address + begin, address + at + kSize + static_cast<uint64_t>(int64_t{read_at<int32_t>(code, at + 2)}));
    }
  }
}

template <class Pairs>
CallGraph::Functions second_of(const Pairs& calls, uint64_t first) {
  CallGraph::Functions found;
  for (auto it = std::lower_bound(calls.begin(), calls.end(), std::pair(first, uint64_t{0}));
       it != calls.end() && it->first == first; ++it) {
    found.push_back(it->second);
  }
  return found;
}

template <class T>
void sort_each_once(std::vector<T>& all) {
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
}

}  // namespace

Result<CallGraph> CallGraph::read(const ElfFile& file) {
  const ElfSection* code = file.section(".text");
  if (code == nullptr) return Error{Errc::kUnsupported, "the library has no section .text"};
  if (file.machine() != EM_AARCH64 && file.machine() != EM_X86_64) {
    return Error{Errc::kUnsupported, "the library's code is not understood"};
  }
  const auto functions = FunctionExtents::read(file);
  if (!functions) return functions.error();
  CallGraph graph;
  for (const FunctionExtents::Extent& function : functions->all()) graph.begins_.push_back(function.begin);
  graph.read_imports(file);
  sort_each_once(graph.begins_);
  if (Status status = graph.read_calls(file, *code); !status) return std::move(status).error();
  return graph;
}

void CallGraph::read_imports(const ElfFile& file) {
  const auto names = import_slots(file);
  for (const char* name : {".plt", ".plt.sec", ".plt.got"}) {
    const ElfSection* section = file.section(name);
    if (section == nullptr) continue;
    const auto code = file.bytes(*section);
    if (!code) continue;
    for_each_linkage(*code, section->address, file.machine(), [&](uint64_t address, uint64_t slot) {
      const auto named = names.find(slot);
      if (named == names.end()) return;
      imports_.push_back({named->second, address});
      begins_.push_back(address);
    });
  }
}

Status CallGraph::read_calls(const ElfFile& file, const ElfSection& code) {
  // In parts: all of it at once would be as large as the library.
  constexpr uint64_t kPart = 1 << 20, kOverlap = 8;
  for (uint64_t done = 0; done < code.size; done += kPart) {
    ElfSection part = code;
    part.offset += done;
    part.size = std::min(kPart + kOverlap, code.size - done);
    const auto bytes = file.bytes(part);
    if (!bytes) return bytes.error();
    for_each_jump(*bytes, code.address + done, file.machine(),
                  [this](uint64_t at, uint64_t target) { add_call(at, target); });
  }
  sort_each_once(by_caller_);
  for (const auto& [caller, callee] : by_caller_) by_callee_.emplace_back(callee, caller);
  std::sort(by_callee_.begin(), by_callee_.end());
  return {};
}

void CallGraph::add_call(uint64_t at, uint64_t target) {
  if (!std::binary_search(begins_.begin(), begins_.end(), target)) return;
  const uint64_t caller = function_at(at);
  if (caller != 0 && caller != target) by_caller_.emplace_back(caller, target);
}

uint64_t CallGraph::function_at(uint64_t address) const {
  const auto next = std::upper_bound(begins_.begin(), begins_.end(), address);
  return next == begins_.begin() ? 0 : *std::prev(next);
}

CallGraph::Functions CallGraph::callees(uint64_t function) const {
  return second_of(by_caller_, function);
}

CallGraph::Functions CallGraph::callers(uint64_t function) const {
  return second_of(by_callee_, function);
}

CallGraph::Functions CallGraph::import(std::string_view name) const {
  Functions found;
  for (const Import& one : imports_) {
    if (one.name == name) found.push_back(one.address);
  }
  sort_each_once(found);
  return found;
}

CallGraph::Functions common(const CallGraph::Functions& a, const CallGraph::Functions& b) {
  CallGraph::Functions both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

}  // namespace tarsier::linux
