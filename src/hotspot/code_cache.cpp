#include "hotspot/code_cache.h"

#include <algorithm>
#include <cstring>

namespace tarsier::hotspot {
namespace {

constexpr uint8_t kFreeSegment = 0xff;

}  // namespace

Result<CodeCache> CodeCache::find(const Memory& memory, const VmStructs& structs) {
  CodeCache cache(memory);
  std::string missing;
  const auto need = [&](std::string_view type, std::string_view field) -> uint64_t {
    const auto offset = structs.offset(type, field);
    if (!offset && missing.empty()) missing = std::string(type) + "." + std::string(field);
    return offset.value_or(0);
  };
  Layout& layout = cache.layout_;
  layout.header_used = need("HeapBlock::Header", "_used");
  layout.header_length = need("HeapBlock::Header", "_length");
  layout.header_size = structs.size_of("HeapBlock").value_or(16);
  layout.length_is_32bit = structs.type_of("HeapBlock::Header", "_length") == "uint32_t";
  layout.blob_name = need("CodeBlob", "_name");
  // nmethod since 23 and in 8; CompiledMethod in between.
  const auto method = structs.offset("nmethod", "_method");
  layout.method = method ? *method : need("CompiledMethod", "_method");
  layout.compile_id = need("nmethod", "_compile_id");
  layout.level = need("nmethod", "_comp_level");
  layout.level_is_byte = structs.type_of("nmethod", "_comp_level") == "CompLevel";

  const uint64_t memory_offset = need("CodeHeap", "_memory");
  const uint64_t segmap_offset = need("CodeHeap", "_segmap");
  const uint64_t shift_offset = need("CodeHeap", "_log2_segment_size");
  const uint64_t low = need("VirtualSpace", "_low");
  const uint64_t high = need("VirtualSpace", "_high");
  if (!missing.empty()) {
    return Error{Errc::kUnsupported, "this JVM's vmStructs lack " + missing + ": code can't be told apart"};
  }

  std::vector<Address> heaps;
  if (const auto list = structs.address("CodeCache", "_heaps")) {
    const auto array = memory.read<Address>(*list);
    const auto length = structs.offset("GrowableArrayBase", "_len");
    const auto length_8 = structs.offset("GenericGrowableArray", "_len");  // until 15
    const auto data = structs.offset("GrowableArray<int>", "_data");
    if (array && data && (length || length_8)) {
      const int32_t count = memory.read<int32_t>(*array + (length ? *length : *length_8)).value_or(0);
      const auto first = memory.read<Address>(*array + *data);
      for (int32_t i = 0; first && i < std::min(count, 16); ++i) {
        if (const auto heap = memory.read<Address>(*first + Address{8} * static_cast<Address>(i)))
          heaps.push_back(*heap);
      }
    }
  } else if (const auto single = structs.address("CodeCache", "_heap")) {  // JDK 8
    if (const auto heap = memory.read<Address>(*single)) heaps.push_back(*heap);
  }
  for (const Address heap : heaps) {
    const auto start = memory.read<Address>(heap + memory_offset + low);
    const auto segmap = memory.read<Address>(heap + segmap_offset + low);
    const auto shift = memory.read<int32_t>(heap + shift_offset);
    if (!start || !segmap || !shift || *shift < 3 || *shift > 20) continue;
    cache.heaps_.push_back({*start, heap + memory_offset + high, *segmap, *shift});
  }
  if (cache.heaps_.empty()) return Error{Errc::kUnsupported, "the JVM's code heaps could not be found"};

  if (const auto queue_field = structs.address("AbstractInterpreter", "_code")) {
    const auto buffer = structs.offset("StubQueue", "_stub_buffer");
    const auto limit = structs.offset("StubQueue", "_buffer_limit");
    const auto queue = memory.read<Address>(*queue_field);
    if (queue && buffer && limit) {
      cache.interpreter_low_ = memory.read<Address>(*queue + *buffer).value_or(0);
      cache.interpreter_high_ =
          cache.interpreter_low_ + static_cast<uint32_t>(memory.read<int32_t>(*queue + *limit).value_or(0));
    }
  }
  return cache;
}

Code CodeCache::describe(Address blob) const {
  Code code;
  code.kind = CodeKind::kStub;
  const auto name_at = memory_->read<Address>(blob + layout_.blob_name);
  if (!name_at) return code;
  char name[16] = {};
  if (!memory_->copy(name, *name_at, sizeof(name) - 1)) return code;
  if (std::strcmp(name, "native nmethod") == 0) {
    code.kind = CodeKind::kNativeWrapper;
  } else if (std::strcmp(name, "nmethod") != 0) {
    return code;
  } else {
    const int level = layout_.level_is_byte ? memory_->read<int8_t>(blob + layout_.level).value_or(0)
                                            : memory_->read<int32_t>(blob + layout_.level).value_or(0);
    code.kind = level == 4 ? CodeKind::kC2 : CodeKind::kC1;
  }
  code.compile_id = memory_->read<int32_t>(blob + layout_.compile_id).value_or(0);
  code.method = memory_->read<Address>(blob + layout_.method).value_or(0);
  return code;
}

std::optional<Address> CodeCache::blob_at(Address pc) const {
  for (const Heap& heap : heaps_) {
    if (pc < heap.low) continue;
    const auto high = memory_->read<Address>(heap.high_field);
    if (!high || pc >= *high) continue;
    // The segment map says for each segment how far back its block begins, in hops of at most 254 segments.
    uint64_t segment = (pc - heap.low) >> heap.log2_segment;
    for (int hops = 0; hops < 1 << 16; ++hops) {
      const auto distance = memory_->read<uint8_t>(heap.segmap + segment);
      if (!distance || *distance == kFreeSegment || *distance > segment) return 0;
      if (*distance == 0) break;
      segment -= *distance;
    }
    const Address blob = heap.low + (segment << heap.log2_segment) + layout_.header_size;
    return is_used(blob) ? blob : 0;
  }
  return std::nullopt;
}

Code CodeCache::code_at(Address pc) const {
  if (pc >= interpreter_low_ && pc < interpreter_high_) return {CodeKind::kInterpreter, 0, 0};
  const auto blob = blob_at(pc);
  if (!blob) return {};
  return *blob == 0 ? Code{CodeKind::kStub, 0, 0} : describe(*blob);
}

CodeCache::Ranges CodeCache::maps() const {
  Ranges ranges;
  for (const Heap& heap : heaps_) {
    const Address high = memory_->read<Address>(heap.high_field).value_or(0);
    if (high <= heap.low) continue;
    ranges.emplace_back(heap.high_field, heap.high_field + sizeof(Address));
    ranges.emplace_back(heap.segmap, heap.segmap + ((high - heap.low) >> heap.log2_segment));
  }
  return ranges;
}

CodeCache::Ranges CodeCache::stable_ranges() const {
  Ranges ranges = maps();
  for (const Heap& heap : heaps_) {
    const Address high = memory_->read<Address>(heap.high_field).value_or(0);
    if (high > heap.low) ranges.emplace_back(heap.low, high);
  }
  return ranges;
}

Address CodeCache::sum_of_ends() const {
  Address sum = 0;
  for (const Heap& heap : heaps_) sum += memory_->read<Address>(heap.high_field).value_or(0);
  return sum;
}

std::string CodeCache::stub_name(Address pc) const {
  const Address blob = blob_at(pc).value_or(0);
  const auto name_at = blob == 0 ? std::nullopt : memory_->read<Address>(blob + layout_.blob_name);
  const auto name = name_at ? memory_->read_string(*name_at, 80) : std::nullopt;
  return name && !name->empty() ? *name : "[stub]";
}

template <class Visit>
void CodeCache::for_each_blob(const Visit& visit) const {
  for (const Heap& heap : heaps_) {
    const Address high = memory_->read<Address>(heap.high_field).value_or(0);
    Address block = heap.low;
    // Blocks lie one after another; a length of 0, or one that leads out, means that we lost track of a moving target.
    while (block < high) {
      const uint64_t length = layout_.length_is_32bit
                                  ? memory_->read<uint32_t>(block + layout_.header_length).value_or(0)
                                  : memory_->read<uint64_t>(block + layout_.header_length).value_or(0);
      if (length == 0 || length > (high - heap.low) >> heap.log2_segment) break;
      const Address end = block + (length << heap.log2_segment);
      const Address blob = block + layout_.header_size;
      if (is_used(blob)) visit(blob, end);
      block = end;
    }
  }
}

int32_t CodeCache::highest_compile_id() const {
  int32_t highest = 0;
  for_each_blob([&](Address blob, Address) { highest = std::max(highest, describe(blob).compile_id); });
  return highest;
}

CodeCache::Ranges CodeCache::blobs_named(std::string_view begin_of_name) const {
  Ranges found;
  for_each_blob([&](Address blob, Address end) {
    const auto name_at = memory_->read<Address>(blob + layout_.blob_name);
    const auto name = name_at ? memory_->read_string(*name_at, 80) : std::nullopt;
    if (name && name->starts_with(begin_of_name)) found.emplace_back(blob, end);
  });
  return found;
}

}  // namespace tarsier::hotspot
