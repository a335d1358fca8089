#include "agent/engines/copied_unwind_table.h"

#include <algorithm>

namespace tarsier::agent {

std::optional<CopiedUnwindTable> CopiedUnwindTable::copy(const Memory& memory, const linux::LoadedLibrary& library,
                                                         size_t most) {
  const auto header = reinterpret_cast<Address>(library.eh_frame_header);
  // Where the tables are lies behind four bytes of the header, as a distance from there. Linkers put them behind it,
  // or, few of them, before.
  constexpr Address kDistanceAt = 4;
  const auto distance = memory.read<int32_t>(header + kDistanceAt);
  if (!distance) return std::nullopt;
  const Address tables = header + kDistanceAt + static_cast<Address>(int64_t{*distance});
  const Address begin = std::min(header, tables), end = library.tables_end;
  if (begin >= end || end - begin > most) return std::nullopt;
  auto bytes = std::make_unique<std::vector<uint8_t>>(end - begin);
  if (!memory.copy(bytes->data(), begin, bytes->size())) return std::nullopt;
  const uint64_t moved = begin - reinterpret_cast<Address>(bytes->data());
  const auto table = capture::UnwindTable::open(library.code_begin - moved, library.code_end - moved,
                                                bytes->data() + (header - begin), *bytes);
  if (!table) return std::nullopt;
  return CopiedUnwindTable(std::move(bytes), moved, *table);
}

}  // namespace tarsier::agent
