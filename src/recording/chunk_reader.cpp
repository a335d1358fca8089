#include "recording/chunk_reader.h"

#include <algorithm>
#include <bit>

#include "recording/decode.h"
#include "recording/format.h"
#include "recording/stored_string.h"

namespace tarsier::recording {
namespace {

constexpr uint64_t kDenseIds = 4096;
constexpr size_t kPassedStep = 8 << 20;

FieldKind kind_of(const LayoutField& field, const Layouts& layouts) {
  switch (field.step) {
    case Step::kFloat:
    case Step::kDouble:
      return FieldKind::kReal;
    case Step::kString:
      return FieldKind::kString;
    case Step::kConstant:
      return FieldKind::kConstant;
    case Step::kArray: {
      const std::vector<LayoutField>& element = layouts.at(field.element).fields;
      return element.size() == 1 && element[0].step == Step::kByte ? FieldKind::kBinary : FieldKind::kOther;
    }
    default:
      return FieldKind::kNumber;
  }
}

}  // namespace

std::span<const uint8_t> EventView::binary(FieldIndex field) const {
  if (!has(field, FieldKind::kBinary)) return {};
  return chunk_.binary(slot(field));
}

std::span<const uint8_t> ChunkReader::binary(const EventView::Slot& slot) const {
  uint64_t size = 0;
  const uint8_t* const begin = fast_varint(slot.at, end(), size);
  // It was skipped by its size when the event was decoded; but somebody may have cut the file meanwhile.
  if (begin == nullptr || size > static_cast<uint64_t>(end() - begin)) return {};
  return {begin, static_cast<size_t>(size)};
}

std::string_view EventView::string(FieldIndex field) const {
  const bool is_string = has(field, FieldKind::kString);
  if (is_string && is_null_or_empty(*slot(field).at)) return {};
  return is_string || has(field, FieldKind::kConstant) ? chunk_.text(type_, field, slot(field)) : std::string_view();
}

ChunkReader::ChunkReader(const ChunkHeader& header, std::span<const uint8_t> bytes, TypeTable types, TextStore& texts)
    : header_(header),
      bytes_(bytes),
      types_(std::move(types)),
      layouts_(types_),
      texts_(texts),
      pools_(types_.types().size()),
      selected_by_id_(kDenseIds, -1) {
  find_known_types();
}

Result<std::unique_ptr<ChunkReader>> ChunkReader::open(const ChunkHeader& header, std::span<const uint8_t> bytes,
                                                       TextStore& texts) {
  const uint64_t at = header.metadata;
  uint64_t size = 0;
  const bool starts = at >= kHeaderSize && at < bytes.size() &&
                      get_varint(bytes.data() + at, bytes.data() + bytes.size(), size) != nullptr;
  if (!starts || size > bytes.size() - at) {
    return Error{Errc::kCorrupt, "its description of types (metadata) is not in the file"};
  }
  Result<TypeTable> types = TypeTable::parse(bytes.subspan(at, size));
  if (!types.ok()) return std::move(types).error();
  return std::unique_ptr<ChunkReader>(new ChunkReader(header, bytes, std::move(*types), texts));
}

TypeIndex ChunkReader::type(std::string_view name) const {
  return {types_.index_of(name)};
}

std::string_view ChunkReader::type_name(TypeIndex type) const {
  return static_cast<size_t>(type.index) < types_.types().size() ? types_.types()[static_cast<size_t>(type.index)].name
                                                                 : std::string_view();
}

int64_t ChunkReader::type_id(TypeIndex type) const {
  return static_cast<size_t>(type.index) < types_.types().size() ? types_.types()[static_cast<size_t>(type.index)].id
                                                                 : -1;
}

std::vector<TypeIndex> ChunkReader::event_types() const {
  std::vector<TypeIndex> out;
  for (size_t i = 0; i < types_.types().size(); ++i) {
    if (types_.types()[i].is_event) out.push_back({static_cast<int32_t>(i)});
  }
  return out;
}

FieldIndex ChunkReader::field(TypeIndex type, std::string_view name) const {
  const int32_t layout = layouts_.of_type(type.index);
  return {layout < 0 ? -1 : layouts_.at(layout).find(name)};
}

std::vector<FieldInfo> ChunkReader::fields(TypeIndex type) const {
  std::vector<FieldInfo> out;
  const int32_t layout = layouts_.of_type(type.index);
  if (layout < 0) return out;
  for (const LayoutField& f : layouts_.at(layout).fields) {
    out.push_back({f.name, type_name({f.type}), kind_of(f, layouts_)});
  }
  return out;
}

void ChunkReader::select(TypeIndex type) {
  const int32_t layout = layouts_.of_type(type.index);
  if (layout < 0) {
    if (type) undecodable_.push_back(type_name(type));
    return;
  }
  const Layout& fields = layouts_.at(layout);
  Selected selected{type, layout, fields.find("startTime"), {}};
  for (const LayoutField& field : fields.fields) selected.kinds.push_back(kind_of(field, layouts_));
  const auto index = static_cast<int32_t>(selected_.size());
  const auto id = static_cast<uint64_t>(types_.types()[static_cast<size_t>(type.index)].id);
  if (id < kDenseIds) {
    selected_by_id_[id] = index;
  } else {
    selected_by_large_id_[id] = index;
  }
  selected_.push_back(std::move(selected));
}

const ChunkReader::Selected* ChunkReader::selected(uint64_t type_id) const {
  int32_t index = -1;
  if (type_id < kDenseIds) {
    index = selected_by_id_[type_id];
  } else if (const auto it = selected_by_large_id_.find(type_id); it != selected_by_large_id_.end()) {
    index = it->second;
  }
  return index < 0 ? nullptr : &selected_[static_cast<size_t>(index)];
}

// A writer of ours sets the constant-pool offset before it shows the events that need it.
bool ChunkReader::flushed_since() const {
  const volatile uint8_t* const at = bytes_.data() + kConstantPoolAt;
  uint64_t now = 0;
  for (size_t i = 0; i < 8; ++i) now = now << 8 | at[i];
  return now != header_.constant_pool;
}

uint64_t ChunkReader::visit_events(Visitor& visitor, EventCounts& counts, const std::function<void(size_t)>& passed,
                                   Part* part) {
  const uint8_t* const begin = bytes_.data();
  const uint8_t* p = begin + std::clamp(part == nullptr ? 0 : part->position, kHeaderSize, bytes_.size());
  const uint8_t* const last_checkpoint = begin + std::min<uint64_t>(header_.constant_pool, bytes_.size());
  const auto left = static_cast<size_t>(end() - p);
  const uint8_t* const visited_from = part == nullptr || left <= part->most ? p : end() - part->most;
  const uint8_t* next_report = begin + kPassedStep;
  std::vector<EventView::Slot> slots;
  for (const Selected& s : selected_) slots.resize(std::max(slots.size(), s.kinds.size()));

  while (p < end()) {
    const uint8_t* const event = p;
    uint64_t size = 0, type_id = 0;
    p = fast_varint(p, end(), size);
    if (p) p = fast_varint(p, end(), type_id);
    if (!p || size < 2) return static_cast<uint64_t>(event - begin);
    if (size > static_cast<uint64_t>(end() - event)) {
      // The last padding reaches over the next chunk while that is being started.
      if (type_id == kMetadataType) break;
      return static_cast<uint64_t>(event - begin);
    }
    const uint8_t* const event_end = event + size;
    if (type_id != kMetadataType && type_id != kCheckpointType) {
      if (event > last_checkpoint && flushed_since()) break;  // newer than the constants that we know
      ++counts.all;
      const Selected* const s = selected(type_id);
      if (s != nullptr && event < visited_from) {
        ++part->skipped;
      } else if (s != nullptr) {
        const uint8_t* const decoded = decode(layouts_.at(s->layout), p, slots.data());
        if (decoded && decoded <= event_end) {
          ++counts.visited;
          const Nanos start(s->start_field < 0 ? 0 : slots[static_cast<size_t>(s->start_field)].number);
          visitor.event(*this, EventView(*this, s->type, start, s->kinds, slots.data()));
        } else {
          ++counts.damaged;
        }
      }
    }
    // What comes next will be written where the last padding is.
    const bool padding = type_id == kMetadataType && static_cast<uint64_t>(event - begin) != header_.metadata;
    if (part != nullptr && !padding) pass(*part, event, event_end, type_id);
    p = event_end;
    if (p >= next_report) {
      passed(static_cast<size_t>(p - begin));
      next_report = p + kPassedStep;
    }
  }
  return 0;
}

void ChunkReader::pass(Part& part, const uint8_t* event, const uint8_t* event_end, uint64_t type_id) const {
  const auto first = static_cast<size_t>(event - bytes_.data()), last = static_cast<size_t>(event_end - bytes_.data());
  part.position = last;
  if (type_id == kMetadataType || type_id == kCheckpointType) return;
  if (!part.events.empty() && part.events.back().second == first) {
    part.events.back().second = last;
  } else {
    part.events.emplace_back(first, last);
  }
}

// Bounds are those of the chunk; whether the event's own were kept is seen by where this ends.
const uint8_t* ChunkReader::decode(const Layout& layout, const uint8_t* p, EventView::Slot* out) const {
  const uint8_t* const limit = end();
  for (const LayoutField& field : layout.fields) {
    EventView::Slot& slot = *out++;
    uint64_t value = 0;
    // Nearly all fields are one of these two.
    if (field.step == Step::kConstant || field.step == Step::kSigned) {
      p = fast_varint(p, limit, value);
      if (!p) return nullptr;
      slot.number = static_cast<int64_t>(value << field.unused_bits) >> field.unused_bits;
      continue;
    }
    switch (field.step) {
      case Step::kSigned:
      case Step::kConstant:
        break;
      case Step::kTimestamp:
        p = fast_varint(p, limit, value);
        slot.number = header_.epoch_of(static_cast<int64_t>(value)).count;
        break;
      case Step::kTimespan:
        p = fast_varint(p, limit, value);
        slot.number = header_.span_of(static_cast<int64_t>(value)).count;
        break;
      case Step::kChar:
        p = fast_varint(p, limit, value);
        slot.number = static_cast<uint16_t>(value);
        break;
      case Step::kByte:
        if (p >= limit) return nullptr;
        slot.number = static_cast<int8_t>(*p++);  // NOLINT(bugprone-signed-char-misuse): Java's byte is signed
        break;
      case Step::kFloat:
        if (limit - p < 4) return nullptr;
        slot.real = static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(get_be(p, 4))));
        p += 4;
        break;
      case Step::kDouble:
        if (limit - p < 8) return nullptr;
        slot.real = std::bit_cast<double>(get_be(p, 8));
        p += 8;
        break;
      case Step::kString:
        slot.at = p;
        p = p < limit && is_null_or_empty(*p) ? p + 1 : layouts_.skip(field, p, limit);
        break;
      case Step::kArray:
        slot.at = p;
        p = layouts_.skip(field, p, limit);
        break;
    }
    if (!p) return nullptr;
  }
  return p;
}

}  // namespace tarsier::recording
