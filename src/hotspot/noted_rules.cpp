#include "hotspot/noted_rules.h"

#include <bit>
#include <cstring>

namespace tarsier::hotspot {
namespace {

// In the recording: five words each, little-endian as everything that we run on.
static_assert(std::endian::native == std::endian::little);
struct Entry {
  uint64_t pc, flags;
  int64_t cfa, ra, fp;
};
enum Flag : uint8_t { kByFp = 1, kRaSaved = 2, kFpSaved = 4, kOutermost = 8 };

}  // namespace

std::optional<UnwindRule> NotedRules::rule_at(Address pc) const {
  const auto rule = source_.rule_at(pc);
  if (rule) rules_.insert_or_assign(pc, *rule);
  return rule;
}

std::vector<uint8_t> NotedRules::encode() const {
  std::vector<uint8_t> out;
  for (const auto& [pc, rule] : rules_) {
    const uint64_t flags = (rule.by_fp ? kByFp : 0) | (rule.ra_saved ? kRaSaved : 0) | (rule.fp_saved ? kFpSaved : 0) |
                           (rule.outermost ? kOutermost : 0);
    const Entry entry{pc, flags, rule.cfa_offset, rule.ra_offset, rule.fp_offset};
    const auto* bytes = reinterpret_cast<const uint8_t*>(&entry);
    out.insert(out.end(), bytes, bytes + sizeof(entry));
  }
  return out;
}

SavedRules::SavedRules(std::span<const uint8_t> bytes) {
  for (; bytes.size() >= sizeof(Entry); bytes = bytes.subspan(sizeof(Entry))) {
    Entry entry;
    std::memcpy(&entry, bytes.data(), sizeof(entry));
    rules_[entry.pc] = {(entry.flags & kByFp) != 0,    entry.cfa, (entry.flags & kRaSaved) != 0,  entry.ra,
                        (entry.flags & kFpSaved) != 0, entry.fp,  (entry.flags & kOutermost) != 0};
  }
}

std::optional<UnwindRule> SavedRules::rule_at(Address pc) const {
  const auto it = rules_.find(pc);
  return it == rules_.end() ? std::nullopt : std::optional(it->second);
}

}  // namespace tarsier::hotspot
