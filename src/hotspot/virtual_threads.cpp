#include "hotspot/virtual_threads.h"

#include "hotspot/flags.h"

namespace tarsier::hotspot {
namespace {

bool flag(const Memory& memory, const VmStructs& structs, std::string_view name) {
  const auto at = find_flag(memory, structs, name);
  return at && memory.read<uint8_t>(*at).value_or(0) != 0;
}

// Up to 23 there are two ZGCs.
bool is_older_zgc(const Memory& memory, const VmStructs& structs) {
  return flag(memory, structs, "UseZGC") && find_flag(memory, structs, "ZGenerational") &&
         !flag(memory, structs, "ZGenerational");
}

// ZGC, where vmStructs list pointers to its variables. Of the older one (X..) a reference with good colours is an
// address as it is.
bool find_colours(const Memory& memory, const VmStructs& structs, ReferenceCoding& out) {
  const auto variable = [&](std::string_view type, std::string_view name) -> const uint64_t* {
    const auto instance_at = structs.address(type, "_instance_p");
    const auto offset = structs.offset(type, name);
    const auto instance = instance_at ? memory.read<Address>(*instance_at) : std::nullopt;
    if (!instance || *instance == 0 || !offset) return nullptr;
    return reinterpret_cast<const uint64_t*>(memory.read<Address>(*instance + *offset).value_or(0));
  };
  if (is_older_zgc(memory, structs)) {
    static constexpr uint64_t kNone = 0;
    out.bad_colours = variable("XGlobalsForVMStructs", "_XAddressBadMask");
    out.colour_bits = &kNone;
  } else {
    out.bad_colours = variable("ZGlobalsForVMStructs", "_ZPointerLoadBadMask");
    out.colour_bits = variable("ZGlobalsForVMStructs", "_ZPointerLoadShift");
  }
  return out.bad_colours != nullptr && out.colour_bits != nullptr;
}

// False if this is a collector whose references we don't understand.
bool find_references(const Memory& memory, const VmStructs& structs, ReferenceCoding& out) {
  if (flag(memory, structs, "UseZGC")) return find_colours(memory, structs, out);
  out.compressed = flag(memory, structs, "UseCompressedOops");
  if (!out.compressed) return true;
  auto base = structs.address("CompressedOops", "_base");
  auto shift = structs.address("CompressedOops", "_shift");
  if (!base) base = structs.address("CompressedOops", "_narrow_oop._base");  // up to 21
  if (!shift) shift = structs.address("CompressedOops", "_narrow_oop._shift");
  if (!base || !shift) return false;
  out.base = memory.read<Address>(*base).value_or(0);
  out.shift = memory.read<int32_t>(*shift).value_or(0);
  return true;
}

// Where a byte[] has its length and its bytes.
void find_array(const Memory& memory, const VmStructs& structs, int major, VirtualThreadLayout::Text& out) {
  constexpr int kFirstWithTightArrays = 23;
  if (flag(memory, structs, "UseCompactObjectHeaders")) {
    out.length = 8;
  } else {
    out.length = flag(memory, structs, "UseCompressedClassPointers") ? 12 : 16;
  }
  out.bytes = out.length + 4;
  if (major < kFirstWithTightArrays) out.bytes = (out.bytes + 7) & ~uint64_t{7};
}

}  // namespace

Result<VirtualThreadLayout> find_virtual_threads(const Memory& memory, const VmStructs& structs, int major,
                                                 const JavaFields& fields, bool entries_known) {
  VirtualThreadLayout layout;
  const auto carrier = structs.offset("JavaThread", "_threadObj");
  const auto current = structs.offset("JavaThread", "_vthread");
  if (!carrier || !current)
    return Error{Errc::kUnsupported, "this JVM's vmStructs do not tell which thread is mounted"};
  layout.carrier = *carrier;
  layout.current = *current;
  layout.current_id = structs.offset("JavaThread", "_monitor_owner_id").value_or(0);
  constexpr uint64_t kContinuationInEntry = 16;  // a class that vmStructs do not describe, the same since 19
  if (!find_references(memory, structs, layout.references)) {
    return Error{Errc::kUnsupported, "this JVM's vmStructs do not tell how references are stored"};
  }
  // The older ZGC colours references on stacks, too, and what lies there may be out of date.
  if (entries_known && !is_older_zgc(memory, structs)) layout.continuation = kContinuationInEntry;
  layout.thread = {fields.thread_id, fields.thread_name, fields.virtual_thread_continuation};
  layout.tail = fields.continuation_tail;
  layout.chunk = {fields.chunk_parent,
                  fields.chunk_size,
                  fields.chunk_sp,
                  fields.chunk_bottom,
                  fields.chunk_bottom_is_argument_size,
                  fields.chunk_words};
  const auto low = structs.address("CodeCache", "_low_bound"), high = structs.address("CodeCache", "_high_bound");
  if (low && high) {
    layout.code_begin = memory.read<Address>(*low).value_or(0);
    layout.code_end = memory.read<Address>(*high).value_or(0);
  }
  layout.text.value = fields.string_value;
  layout.text.coder = fields.string_coder;
  find_array(memory, structs, major, layout.text);
  const auto in_head = [&](uint64_t offset) { return offset > 0 && offset + 4 <= layout.chunk.words; };
  if (layout.chunk.words > VirtualThreadLayout::kMaxChunkHead || !in_head(layout.chunk.parent + 4) ||
      !in_head(layout.chunk.size) || !in_head(layout.chunk.sp) || !in_head(layout.chunk.bottom)) {
    return Error{Errc::kUnsupported, "this JVM's stack chunks are not as we know them"};
  }
  return layout;
}

Address klass_of(const Memory& memory, const VmStructs& structs, Address reference) {
  const auto offset_at = structs.address("java_lang_Class", "_klass_offset");
  const auto offset = offset_at ? memory.read<int32_t>(*offset_at) : std::nullopt;
  if (!offset || *offset <= 0) return 0;
  constexpr Address kTag = 7;  // the kind of a JNI reference
  const Address handle = reference & ~kTag;
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    const Address mirror = memory.read<Address>(handle).value_or(0);
    const Address klass = memory.read<Address>(mirror + static_cast<Address>(*offset)).value_or(0);
    // A collection that has moved the mirror has changed the reference, too.
    if (memory.read<Address>(handle).value_or(0) == mirror) return klass;
  }
  return 0;
}

std::optional<uint64_t> instance_size(const Memory& memory, const VmStructs& structs, Address klass) {
  const auto offset = structs.offset("Klass", "_layout_helper");
  const auto helper = offset && klass != 0 ? memory.read<int32_t>(klass + *offset) : std::nullopt;
  if (!helper || *helper <= 0) return std::nullopt;
  return static_cast<uint64_t>(*helper) & ~uint64_t{7};
}

}  // namespace tarsier::hotspot
