#include "linux/usdt.h"

#include <elf.h>

#include <cstring>
#include <optional>

namespace tarsier::linux {
namespace {

constexpr uint32_t kStapsdtType = 3;
constexpr uint64_t kMaxNotes = 1 << 24;  // bytes; libjvm has 60 KB of them

// Takes the text up to the next NUL away from `rest`; nullopt if there is none.
std::optional<std::string_view> take_string(std::string_view& rest) {
  const size_t end = rest.find('\0');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view text = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return text;
}

// Three addresses, then provider, name and arguments, each ended by NUL.
std::optional<UsdtProbe> parse_probe(const ElfNote& note, uint64_t base_address) {
  if (note.owner != "stapsdt" || note.type != kStapsdtType) return std::nullopt;
  uint64_t addresses[3];
  if (note.description.size() < sizeof(addresses)) return std::nullopt;
  std::memcpy(addresses, note.description.data(), sizeof(addresses));
  std::string_view text(reinterpret_cast<const char*>(note.description.data()) + sizeof(addresses),
                        note.description.size() - sizeof(addresses));
  const auto provider = take_string(text);
  const auto name = take_string(text);
  const auto arguments = take_string(text);
  if (!provider || !name || !arguments) return std::nullopt;
  const auto [address, noted_base, semaphore] = addresses;
  // A tool that moves a linked file (prelink) does not know these notes: how far it moved it is told by the section
  // .stapsdt.base, whose address at the time of linking each note repeats.
  const uint64_t moved = base_address == 0 || noted_base == 0 ? 0 : base_address - noted_base;
  return UsdtProbe{std::string(*provider), std::string(*name), address + moved, semaphore == 0 ? 0 : semaphore + moved,
                   std::string(*arguments)};
}

}  // namespace

Result<std::vector<UsdtProbe>> usdt_probes(const ElfFile& file) {
  std::vector<UsdtProbe> probes;
  const ElfSection* section = file.section(".note.stapsdt");
  if (section == nullptr) return probes;
  const auto notes = file.bytes(*section, kMaxNotes);
  if (!notes) return notes.error();
  const ElfSection* base = file.section(".stapsdt.base");
  for_each_note(*notes, section->alignment, [&](const ElfNote& note) {
    if (auto probe = parse_probe(note, base == nullptr ? 0 : base->address)) probes.push_back(std::move(*probe));
    return true;
  });
  return probes;
}

}  // namespace tarsier::linux
