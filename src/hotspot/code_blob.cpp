#include "hotspot/code_blob.h"

#include <algorithm>

namespace tarsier::hotspot {
namespace {

constexpr int kFirstThatExcludesZero = 20;
constexpr const char* kCompiledName = "nmethod";
constexpr uint64_t kMaxTable = 32 << 20;  // larger ones are damage

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}
bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// By the names that HotSpot gives, which changed now and then.
BlobKind kind_of(std::string_view name) {
  if (name == kCompiledName) return BlobKind::kCompiled;
  if (name == "native nmethod") return BlobKind::kNativeWrapper;
  if (starts_with(name, "StubRoutines") || starts_with(name, "Stub Generator")) {
    return has(name, "continuation") ? BlobKind::kContinuationStubs : BlobKind::kStubRoutines;
  }
  if (has(name, "upcall_stub")) return BlobKind::kUpcallStub;
  if (has(name, "adapter") || has(name, "Adapter") || has(name, "I2C") || has(name, "vtable") || has(name, "itable")) {
    return BlobKind::kAdapter;
  }
  return BlobKind::kRuntimeStub;
}

}  // namespace

const PcDesc* CodeBlob::at_or_after(Address pc) const {
  const auto offset = static_cast<int64_t>(pc) - static_cast<int64_t>(code_begin);
  const auto it = std::lower_bound(pcs.begin(), pcs.end(), offset,
                                   [](const PcDesc& desc, int64_t wanted) { return desc.pc_offset < wanted; });
  // The last row is a sentinel that lies behind all code.
  return it == pcs.end() || it + 1 == pcs.end() ? nullptr : &*it;
}

const PcDesc* CodeBlob::at(Address pc) const {
  const PcDesc* desc = at_or_after(pc);
  return desc != nullptr && code_begin + static_cast<Address>(desc->pc_offset) == pc ? desc : nullptr;
}

Result<CodeBlobs> CodeBlobs::find(const Memory& memory, const VmStructs& structs, const CodeCache& cache, int major) {
  CodeBlobs blobs(memory, cache);
  if (const std::string missing = blobs.find_layout(structs); !missing.empty()) {
    return Error{Errc::kUnsupported, "this JVM's vmStructs lack " + missing + ": compiled frames can't be decoded"};
  }
  blobs.excluded_byte_ = major >= kFirstThatExcludesZero ? 1 : 0;
  blobs.interpreter_.kind = BlobKind::kInterpreter;
  blobs.interpreter_.name = "Interpreter";
  std::tie(blobs.interpreter_.code_begin, blobs.interpreter_.code_end) = cache.interpreter();
  return blobs;
}

std::string CodeBlobs::find_layout(const VmStructs& structs) {
  std::string missing;
  const auto need = [&](std::string_view type, std::string_view field) -> uint64_t {
    const auto offset = structs.offset(type, field);
    if (!offset && missing.empty()) missing = std::string(type) + "." + std::string(field);
    return offset.value_or(0);
  };
  Layout& l = layout_;
  l.name = need("CodeBlob", "_name");
  l.size = need("CodeBlob", "_size");
  l.frame_size = need("CodeBlob", "_frame_size");
  l.frame_complete = need("CodeBlob", "_frame_complete_offset");
  l.frame_complete_is_16bit = structs.type_of("CodeBlob", "_frame_complete_offset") == "int16_t";
  l.code_begin = structs.offset("CodeBlob", "_code_begin");
  if (l.code_begin) {
    l.code_end = need("CodeBlob", "_code_end");
  } else {
    l.code_offset = need("CodeBlob", "_code_offset");
    l.data_offset = need("CodeBlob", "_data_offset");
  }
  const auto method = structs.offset("nmethod", "_method");
  l.method = method ? *method : need("CompiledMethod", "_method");
  l.compile_id = need("nmethod", "_compile_id");
  l.level = need("nmethod", "_comp_level");
  l.level_is_byte = structs.type_of("nmethod", "_comp_level") == "CompLevel";
  l.original_pc = need("nmethod", "_orig_pc_offset");
  l.pcs_offset = need("nmethod", "_scopes_pcs_offset");

  l.entry = structs.offset("nmethod", "_verified_entry_point");
  if (!l.entry) l.entry_offset = need("nmethod", "_verified_entry_offset");
  l.deopt = structs.offset("CompiledMethod", "_deopt_handler_begin");
  l.deopt_mh = structs.offset("CompiledMethod", "_deopt_mh_handler_begin");
  if (!l.deopt) {
    const bool is_8 = structs.offset("nmethod", "_deoptimize_offset").has_value();
    l.deopt_offset = need("nmethod", is_8 ? "_deoptimize_offset" : "_deopt_handler_offset");
    l.deopt_mh_offset = need("nmethod", is_8 ? "_deoptimize_mh_offset" : "_deopt_mh_handler_offset");
  }

  l.immutable_data = structs.offset("nmethod", "_immutable_data");
  l.scopes_begin = structs.offset("CompiledMethod", "_scopes_data_begin");
  if (!l.scopes_begin) l.scopes_offset = need("nmethod", "_scopes_data_offset");
  if (l.immutable_data) {
    l.immutable_size = need("nmethod", "_immutable_data_size");
    l.mutable_data = need("CodeBlob", "_mutable_data");
    l.mutable_size = need("CodeBlob", "_mutable_data_size");
    l.relocation_size = need("CodeBlob", "_relocation_size");
  } else {
    l.pcs_end_offset = need("nmethod", "_dependencies_offset");
    l.metadata_offset = need("nmethod", "_metadata_offset");
  }
  l.frame_data = structs.offset("UpcallStub", "_frame_data_offset");  // since 25
  l.header_size = structs.offset("CodeBlob", "_header_size");
  l.blob_size = structs.size_of("CodeBlob").value_or(0);
  l.frame_data_anchor = structs.offset("UpcallStub::FrameData", "jfa").value_or(0);
  return missing;
}

const CodeBlob* CodeBlobs::at(Address pc) {
  if (interpreter_.contains(pc)) return &interpreter_;
  Hint& hint = hints_[(pc >> kLog2HintBytes) % hints_.size()];
  if (hint.blob != nullptr && hint.blob->contains(pc) && is_valid(*hint.blob, hint.serial)) return hint.blob;
  const Address address = cache_->blob_at(pc).value_or(0);
  if (address == 0) return nullptr;
  std::unique_ptr<CodeBlob>& known = blobs_[address];
  // A pc of code that is gone may lead into the head or the tables of what lies there now.
  if (known != nullptr && is_there(*known)) {
    if (!known->contains(pc)) return nullptr;
    hint = {known.get(), known->serial};
    return known.get();
  }
  if (known != nullptr) {
    bytes_ -= known->memory_used();
    replaced_.push_back(std::move(known));
  }
  if (empty_.empty()) empty_.push_back(std::make_unique<CodeBlob>());
  // What was read in pieces while it was being replaced is worth nothing.
  if (!read(address, *empty_.back()) || !still_is(*empty_.back())) {
    *empty_.back() = {};
    blobs_.erase(address);
    return nullptr;
  }
  known = std::move(empty_.back());
  empty_.pop_back();
  known->serial = ++serials_;
  known->seen_at = moment_;
  bytes_ += known->memory_used();
  return known->contains(pc) ? known.get() : nullptr;
}

void CodeBlobs::give_back(std::unique_ptr<CodeBlob> blob) {
  *blob = {};
  empty_.push_back(std::move(blob));
}

void CodeBlobs::end_walk() {
  for (auto& blob : replaced_) give_back(std::move(blob));
  replaced_.clear();
}

void CodeBlobs::forget() {
  end_walk();
  for (auto& [address, blob] : blobs_) give_back(std::move(blob));
  blobs_.clear();
  bytes_ = 0;
}

bool CodeBlobs::still_is(const CodeBlob& blob) const {
  if (!cache_->is_used(blob.address) || field<int32_t>(blob.address, layout_.size) != blob.size) return false;
  if (blob.kind == BlobKind::kUpcallStub) return saved_anchor(blob.address) == blob.saved_anchor;
  return !blob.is_method() || (field<int32_t>(blob.address, layout_.compile_id) == blob.compile_id &&
                               field<Address>(blob.address, layout_.method) == blob.method);
}

bool CodeBlobs::read(Address blob, CodeBlob& result) const {
  CodeBlob* const out = &result;
  out->address = blob;
  out->size = field<int32_t>(blob, layout_.size);
  constexpr int32_t kMaxFrame = 1 << 20;
  const int32_t frame_words = std::clamp(field<int32_t>(blob, layout_.frame_size), 0, kMaxFrame);
  out->frame_bytes = frame_words * static_cast<int32_t>(sizeof(Address));
  out->frame_complete = layout_.frame_complete_is_16bit ? field<int16_t>(blob, layout_.frame_complete)
                                                        : field<int32_t>(blob, layout_.frame_complete);
  out->code_begin = layout_.code_begin ? field<Address>(blob, *layout_.code_begin)
                                       : blob + static_cast<Address>(field<int32_t>(blob, layout_.code_offset));
  out->code_end = layout_.code_end ? field<Address>(blob, *layout_.code_end)
                                   : blob + static_cast<Address>(field<int32_t>(blob, layout_.data_offset));
  if (out->size <= 0 || out->frame_bytes > kMaxFrame || out->code_begin < blob || out->code_end < out->code_begin) {
    return false;
  }
  const auto name_at = field<Address>(blob, layout_.name);
  if (name_at == 0) return false;
  out->name = name_at == compiled_name_ ? kCompiledName : memory_->read_string(name_at, 80).value_or("");
  out->kind = kind_of(out->name);
  if (out->kind == BlobKind::kCompiled) compiled_name_ = name_at;
  // HotSpot keeps many of them in one blob: "vtable chunks", "I2C/C2I adapters".
  if (out->kind == BlobKind::kAdapter) out->name = has(out->name, "table") ? "vtable stub" : "I2C/C2I adapter";
  if (out->kind == BlobKind::kUpcallStub) out->saved_anchor = saved_anchor(blob);
  return !out->is_method() || read_method(blob, *out);
}

int32_t CodeBlobs::saved_anchor(Address blob) const {
  const Layout& l = layout_;
  uint64_t at = l.frame_data.value_or(0);
  if (!l.frame_data) {
    // Not exported: it is the last member of the head, an int. In 17 on aarch64 there are stubs of that name without
    // such members, which have the JVM call Java.
    constexpr uint64_t kLastMember = 8;
    const uint64_t head = l.header_size ? field<uint32_t>(blob, *l.header_size) : 0;
    if (head < l.blob_size + kLastMember || head > static_cast<uint32_t>(field<int32_t>(blob, l.size))) return 0;
    at = head - kLastMember;
  }
  const auto frame_data = field<int32_t>(blob, at);
  constexpr int32_t kLargest = 1 << 16;
  if (frame_data <= 0 || frame_data > kLargest || frame_data % 8 != 0) return 0;
  return frame_data + static_cast<int32_t>(l.frame_data_anchor);
}

bool CodeBlobs::read_method(Address blob, CodeBlob& out) const {
  const Layout& l = layout_;
  out.method = field<Address>(blob, l.method);
  out.compile_id = field<int32_t>(blob, l.compile_id);
  out.level = l.level_is_byte ? field<int8_t>(blob, l.level) : field<int32_t>(blob, l.level);
  out.entry = l.entry ? field<Address>(blob, *l.entry) : out.code_begin + field<uint16_t>(blob, l.entry_offset);
  const auto at_offset = [&](uint64_t offset) -> Address {
    const auto value = field<int32_t>(blob, offset);
    return value <= 0 ? 0 : blob + static_cast<Address>(value);
  };
  out.deopt_handler = l.deopt ? field<Address>(blob, *l.deopt) : at_offset(l.deopt_offset);
  out.deopt_mh_handler = l.deopt_mh ? field<Address>(blob, *l.deopt_mh) : at_offset(l.deopt_mh_offset);
  out.original_pc_offset = field<int32_t>(blob, l.original_pc);
  if (out.kind == BlobKind::kNativeWrapper) return true;
  Tables tables;
  std::array<MemoryPiece, 3> pieces;
  return find_tables(blob, tables) && make_room(tables.pcs, tables.pcs_end, out.pcs, pieces[0]) &&
         make_room(tables.scopes, tables.scopes_end, out.scopes, pieces[1]) &&
         make_room(tables.metadata, tables.metadata_end, out.metadata, pieces[2]) && memory_->copy_all(pieces);
}

bool CodeBlobs::find_tables(Address blob, Tables& t) const {
  const Layout& l = layout_;
  const auto number = [&](uint64_t offset) { return static_cast<Address>(field<int32_t>(blob, offset)); };
  if (l.immutable_data) {
    const auto immutable = field<Address>(blob, *l.immutable_data);
    t.pcs = immutable + number(l.pcs_offset);
    t.pcs_end = t.scopes = immutable + number(l.scopes_offset);
    t.scopes_end = immutable + number(l.immutable_size);
    const auto mutable_data = field<Address>(blob, l.mutable_data);
    t.metadata = mutable_data + number(l.relocation_size);
    t.metadata_end = mutable_data + number(l.mutable_size);
  } else {
    t.pcs = t.scopes_end = blob + number(l.pcs_offset);
    t.pcs_end = blob + number(l.pcs_end_offset);
    t.scopes = t.metadata_end = l.scopes_begin ? field<Address>(blob, *l.scopes_begin) : blob + number(l.scopes_offset);
    t.metadata = blob + number(l.metadata_offset);
  }
  return true;
}

template <class T>
bool CodeBlobs::make_room(Address begin, Address end, std::vector<T>& out, MemoryPiece& piece) {
  if (end < begin || end - begin > kMaxTable) return false;
  out.resize((end - begin) / sizeof(T));
  piece = {out.data(), begin, out.size() * sizeof(T)};
  return true;
}

}  // namespace tarsier::hotspot
