#include "hotspot/continuation_entries.h"

#include <vector>

#include "hotspot/code_cache.h"

namespace tarsier::hotspot {
namespace {

constexpr std::string_view kStubs = "StubRoutines (continuation";
constexpr uint64_t kLargestStubs = 1 << 20, kLargestThread = 1 << 16;

}  // namespace

std::optional<uint64_t> find_continuation_entries(const Memory& memory, const VmStructs& structs,
                                                  const Machine& machine) {
  if (const auto told = structs.offset("JavaThread", "_cont_entry")) return told;
  if (!structs.offset("JavaThread", "_vthread")) return std::nullopt;  // there are no virtual threads
  const auto cache = CodeCache::find(memory, structs);
  if (!cache) return std::nullopt;
  for (const auto& [begin, end] : cache->blobs_named(kStubs)) {
    if (end - begin > kLargestStubs) continue;
    std::vector<uint8_t> code(end - begin);
    if (!memory.copy(code.data(), begin, code.size())) continue;
    const auto offset = machine.field_put_into_sp(code);
    if (offset && *offset > 0 && *offset < kLargestThread) return offset;
  }
  return std::nullopt;
}

}  // namespace tarsier::hotspot
