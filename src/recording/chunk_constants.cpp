// ChunkReader's constants: following the chain of checkpoints, and decoding what it knows by name.
#include <algorithm>
#include <array>

#include "recording/chunk_reader.h"
#include "recording/decode.h"
#include "recording/format.h"
#include "recording/stored_string.h"

namespace tarsier::recording {
namespace {

constexpr uint64_t kMostFrames = 1 << 16;
constexpr int kDeepestText = 4;

// Fields by name, in the order in which the functions below ask for them.
constexpr std::array<std::string_view, 2> kStackFields = {"truncated", "frames"};
constexpr std::array<std::string_view, 4> kFrameFields = {"method", "lineNumber", "bytecodeIndex", "type"};
constexpr std::array<std::string_view, 3> kMethodFieldNames = {"type", "name", "descriptor"};
constexpr std::array<std::string_view, 1> kClassFieldNames = {"name"};
constexpr std::array<std::string_view, 6> kThreadFieldNames = {"osName",       "osThreadId", "javaName",
                                                               "javaThreadId", "virtual",    "group"};
constexpr std::array<std::string_view, 1> kGroupFields = {"name"};
constexpr std::array<std::string_view, 1> kFrameTypeFieldNames = {"description"};

bool is_number(Step step) {
  return step <= Step::kTimespan;
}

}  // namespace

ChunkReader::Known ChunkReader::known(std::string_view type, std::span<const std::string_view> fields) {
  Known out;
  out.type = types_.index_of(type);
  out.layout = layouts_.of_type(out.type);
  for (const std::string_view field : fields) {
    const int32_t i = out.layout < 0 ? -1 : layouts_.at(out.layout).find(field);
    out.fields.push_back(i);
    out.numbers.push_back(i >= 0 && is_number(layouts_.at(out.layout).fields[static_cast<size_t>(i)].step) ? i : -1);
  }
  return out;
}

void ChunkReader::find_known_types() {
  stack_ = known("jdk.types.StackTrace", kStackFields);
  frame_ = known("jdk.types.StackFrame", kFrameFields);
  method_ = known("jdk.types.Method", kMethodFieldNames);
  class_ = known("java.lang.Class", kClassFieldNames);
  thread_ = known("java.lang.Thread", kThreadFieldNames);
  group_ = known("jdk.types.ThreadGroup", kGroupFields);
  frame_type_ = known("jdk.types.FrameType", kFrameTypeFieldNames);
  string_type_ = types_.index_of("java.lang.String");
}

bool ChunkReader::load_constants() {
  uint64_t at = header_.constant_pool;
  while (true) {
    int64_t delta = 0;
    if (!load_checkpoint(at, delta)) break;
    if (delta == 0) return true;
    // Each lies before the next one: the chain can't be endless.
    const uint64_t back = uint64_t{0} - static_cast<uint64_t>(delta);
    if (delta > 0 || back > at) break;
    at -= back;
  }
  load_all_checkpoints();
  return false;
}

// For files that end before the checkpoint with which the chain begins.
void ChunkReader::load_all_checkpoints() {
  const uint8_t* p = bytes_.data() + kHeaderSize;
  while (p < end()) {
    uint64_t size = 0, type = 0;
    const uint8_t* body = fast_varint(p, end(), size);
    if (body) body = fast_varint(body, end(), type);
    if (!body || size < 2 || size > static_cast<uint64_t>(end() - p)) return;
    int64_t delta = 0;
    if (type == kCheckpointType) load_checkpoint(static_cast<uint64_t>(p - bytes_.data()), delta);
    p += size;
  }
}

bool ChunkReader::load_checkpoint(uint64_t offset, int64_t& delta) {
  if (offset < kHeaderSize || offset >= bytes_.size()) return false;
  const uint8_t* const begin = bytes_.data() + offset;
  const uint8_t* p = begin;
  uint64_t size = 0, type = 0, start = 0, duration = 0, signed_delta = 0, pools = 0;
  p = get_varint(p, end(), size);
  if (p) p = get_varint(p, end(), type);
  if (!p || type != kCheckpointType || size > static_cast<uint64_t>(end() - begin)) return false;
  const uint8_t* const stop = begin + size;
  for (uint64_t* value : {&start, &duration, &signed_delta}) {
    if (p) p = get_varint(p, stop, *value);
  }
  if (!p || p >= stop) return false;
  ++p;  // its kind
  p = get_varint(p, stop, pools);
  for (; p && pools > 0; --pools) p = load_pool(p, stop);
  if (!p) return false;
  delta = static_cast<int64_t>(signed_delta);
  return true;
}

const uint8_t* ChunkReader::load_pool(const uint8_t* p, const uint8_t* stop) {
  uint64_t type_id = 0, count = 0, key = 0;
  p = get_varint(p, stop, type_id);
  if (p) p = get_varint(p, stop, count);
  if (!p) return nullptr;
  const int32_t type = types_.index_of(static_cast<int64_t>(type_id));
  const int32_t layout_index = layouts_.of_type(type);
  if (layout_index < 0) return nullptr;  // its values can't be skipped
  const Layout& layout = layouts_.at(layout_index);
  ConstantPool& pool = pools_[static_cast<size_t>(type)];
  for (; count > 0; --count) {
    p = fast_varint(p, stop, key);
    if (!p) return nullptr;
    pool.put(static_cast<int64_t>(key), p);
    p = layouts_.skip(layout, p, stop);
    if (!p) return nullptr;
  }
  return p;
}

const Layout* ChunkReader::constant(const Known& known, ConstantKey key) const {
  if (known.layout < 0) return nullptr;
  const uint8_t* const at = pools_[static_cast<size_t>(known.type)].get(key.key);
  if (!at) return nullptr;
  const Layout& layout = layouts_.at(known.layout);
  slots_.resize(std::max(slots_.size(), layout.fields.size()));
  return decode(layout, at, slots_.data()) ? &layout : nullptr;
}

std::string_view ChunkReader::text_at(const Known& known, size_t field) const {
  const int32_t i = known.fields[field];
  if (i < 0) return {};
  return text_of(layouts_.at(known.layout).fields[static_cast<size_t>(i)], slots_[static_cast<size_t>(i)]);
}

std::string_view ChunkReader::text(TypeIndex type, FieldIndex field, const EventView::Slot& slot) const {
  return text_of(layouts_.at(layouts_.of_type(type.index)).fields[static_cast<size_t>(field.index)], slot);
}

// Text is a string, or a constant whose only field is text.
std::string_view ChunkReader::text_of(const LayoutField& field, const EventView::Slot& slot, int depth) const {
  if (depth > kDeepestText) return {};
  const uint8_t* at = nullptr;
  if (field.step == Step::kConstant) {
    const int32_t layout = layouts_.of_type(field.type);
    if (layout < 0 || layouts_.at(layout).fields.size() != 1) return {};
    at = pools_[static_cast<size_t>(field.type)].get(slot.number);
    if (!at) return {};
    const LayoutField& inner = layouts_.at(layout).fields.front();
    EventView::Slot value{};
    return decode(layouts_.at(layout), at, &value) ? text_of(inner, value, depth + 1) : std::string_view();
  }
  if (field.step != Step::kString) return {};
  StoredString stored;
  if (!read_stored_string(slot.at, end(), stored)) return {};
  if (stored.encoding != StringEncoding::kConstantPool) return texts_.text(stored);
  if (string_type_ < 0) return {};
  EventView::Slot value{};
  value.at = pools_[static_cast<size_t>(string_type_)].get(static_cast<int64_t>(stored.length));
  return value.at ? text_of(field, value, depth + 1) : std::string_view();
}

bool ChunkReader::stack(ConstantKey key, StackView& out) const {
  out.truncated = false;
  out.frames.clear();
  const Layout* const layout = constant(stack_, key);
  if (!layout || stack_.fields[1] < 0) return false;
  out.truncated = number_at(stack_, 0) != 0;
  const LayoutField& frames = layout->fields[static_cast<size_t>(stack_.fields[1])];
  // Frames as JFR has them: an array of StackFrame, in place.
  if (frames.step != Step::kArray || frames.element != frame_.layout || frame_.layout < 0) return false;
  uint64_t count = 0;
  const uint8_t* p = fast_varint(slots_[static_cast<size_t>(stack_.fields[1])].at, end(), count);
  if (!p || count > static_cast<uint64_t>(end() - p)) return false;
  if (count > kMostFrames) {
    count = kMostFrames;
    out.truncated = true;
  }
  const Layout& element = layouts_.at(frame_.layout);
  slots_.resize(std::max(slots_.size(), element.fields.size()));
  out.frames.reserve(count);
  for (; count > 0; --count) {
    p = decode(element, p, slots_.data());
    if (!p) return false;
    FrameView& frame = out.frames.emplace_back();
    frame.method.key = number_at(frame_, 0);
    frame.line = static_cast<int32_t>(std::max<int64_t>(number_at(frame_, 1), 0));  // JFR: -1 is unknown
    if (frame_.fields[2] >= 0) frame.bci = static_cast<int32_t>(number_at(frame_, 2));
    frame.type = frame_type(number_at(frame_, 3));
  }
  return true;
}

FrameType ChunkReader::frame_type(int64_t key) const {
  for (const auto& [known_key, type] : frame_types_) {
    if (known_key == key) return type;
  }
  // Files know a handful of them; one that claims more gets no cache.
  constexpr size_t kMostCached = 64;
  FrameType type = FrameType::kJava;
  if (frame_type_.layout >= 0) {
    const uint8_t* const at = pools_[static_cast<size_t>(frame_type_.type)].get(key);
    const Layout& layout = layouts_.at(frame_type_.layout);
    EventView::Slot value{};
    if (at && layout.fields.size() == 1 && decode(layout, at, &value)) {
      type = frame_type_of_jfr_name(text_of(layout.fields.front(), value));
    }
  }
  if (frame_types_.size() < kMostCached) frame_types_.emplace_back(key, type);
  return type;
}

bool ChunkReader::method(ConstantKey key, MethodView& out) const {
  out = {};
  if (!constant(method_, key)) return false;
  const ConstantKey klass{number_at(method_, 0)};
  out.name = text_at(method_, 1);
  out.descriptor = text_at(method_, 2);
  if (!class_name(klass, out.class_name) || out.class_name.empty()) out.descriptor = {};
  return true;
}

bool ChunkReader::class_name(ConstantKey key, std::string_view& out) const {
  out = {};
  if (!constant(class_, key)) return false;
  out = text_at(class_, 0);
  return true;
}

bool ChunkReader::thread(ConstantKey key, ThreadInfo& out) const {
  out = {};
  if (!constant(thread_, key)) return false;
  out.os_name = text_at(thread_, 0);
  out.os_id = number_at(thread_, 1);
  out.java_name = text_at(thread_, 2);
  out.java_id = number_at(thread_, 3);
  out.is_virtual = number_at(thread_, 4) != 0;
  const ConstantKey group{number_at(thread_, 5)};
  if (constant(group_, group)) out.group = text_at(group_, 0);
  return true;
}

}  // namespace tarsier::recording
