// For tests of the stack walker: a code cache made by hand, with a call stub, a compiled method that another one is
// inlined into, a native wrapper and an upcall stub; and stacks, word by word.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "hotspot/image_for_test.h"
#include "hotspot/remembered_stack.h"
#include "hotspot/stack_walker.h"

namespace tarsier::hotspot {

class CodeImage {
 public:
  static constexpr int kSegments = 64, kSegment = 128;
  static constexpr int32_t kFrame = 48;        // bytes of the compiled method's frame
  static constexpr int32_t kOriginalPc = 8;    // from sp of that frame, while it is to be deoptimised
  static constexpr int32_t kSavedAnchor = 16;  // from sp of the upcall stub's frame

  // `exports_upcalls`: says where an upcall stub tells of its frame, as 25 does.
  explicit CodeImage(bool exports_upcalls = true) {
    layout(exports_upcalls);
    memory_ = jvm.image.reserve(kSegments * kSegment, kSegment);
    segmap_ = jvm.image.reserve(kSegments);
    for (int i = 0; i < kSegments; ++i) jvm.image.put<uint8_t>(segmap_ + static_cast<Address>(i), 0xff);
    call_stub_return = code_of(blob(0, 8, "StubRoutines (1)", 0)) + 16;
    wrapper = code_of(blob(8, 8, "native nmethod", kFrame)) + 64;
    compiled_ = blob(16, 24, "nmethod", kFrame);
    compiled = code_of(compiled_) + 40;
    return_barrier = code_of(blob(40, 8, "StubRoutines (continuationstubs)", 0)) + 16;
    jvm.image.put<uint32_t>(return_barrier - 8, 0x320003e1);  // orr w1, wzr, #1: it thaws for a return
    const Address upcall_stub = blob(48, 8, "upcall_stub", 0);
    upcall = code_of(upcall_stub) + 16;
    jvm.image.put<uint32_t>(upcall - 4, 0x94000000);  // bl
    jvm.image.put<int32_t>(upcall_stub + 112, kSavedAnchor);
    interpreter = blob(56, 8, "Interpreter", 0) + 64;
    deopt_handler = compiled + 160;
    jvm.image.put(compiled_ + 64, deopt_handler);
    jvm.image.put<int32_t>(compiled_ + 88, kOriginalPc);
    debug_information();
    heaps();
    queue_of_interpreter();
    const Address stub = jvm.image.reserve(8);
    jvm.image.put(stub, call_stub_return);
    jvm.static_member("StubRoutines", "_call_stub_return_address", stub);
  }

  // Everything that a walker stands on.
  void open(const NativeFrames* native = nullptr) {
    structs_ = std::make_unique<VmStructs>(taken(jvm.load()));
    cache_ = std::make_unique<CodeCache>(taken(CodeCache::find(jvm.image, *structs_)));
    blobs_ = std::make_unique<CodeBlobs>(taken(CodeBlobs::find(jvm.image, *structs_, *cache_, 17)));
    methods_ = std::make_unique<Methods>(taken(Methods::find(jvm.image, *structs_, 17)));
    walker_ = std::make_unique<StackWalker>(
        taken(StackWalker::find(jvm.image, *structs_, *blobs_, *methods_, Machine::aarch64(), 17, native)));
  }
  WalkedStack walk(const std::vector<uint8_t>& fragment, RememberedStack* remembered = nullptr) {
    WalkedStack out;
    walker_->walk(*reinterpret_cast<const Fragment*>(fragment.data()), 100, out, remembered);
    if (remembered != nullptr) remembered->keep(out);
    return out;
  }
  // The same with the frames that are reused left where they are; `remembered` keeps what it had.
  void walk_leaving_out(const std::vector<uint8_t>& fragment, RememberedStack& remembered, WalkedStack& out) {
    out.leaves_out_reused = true;
    walker_->walk(*reinterpret_cast<const Fragment*>(fragment.data()), 100, out, &remembered);
  }
  // Other code takes the place of the compiled method.
  void replace_compiled() { jvm.image.put<int32_t>(compiled_ + 80, 4711); }
  // As HotSpot does it: all else is left as it was until other code is written over it.
  void free_compiled() { jvm.image.put<uint8_t>(compiled_ - 16 + 8, 0); }
  void unload_classes() { methods_->set_epochs(1, 1); }
  // The stack that is walked next was copied before.
  void unload_classes_since() { methods_->set_epochs(1, 0); }
  // The Method* of one that is loaded, of a class with no other.
  Address method() {
    Image& image = jvm.image;
    const Address method = image.reserve(24), const_method = image.reserve(48), pool = image.reserve(72 + 16);
    const Address klass = image.reserve(16), methods = image.reserve(16), symbol = image.reserve(64);
    image.put(method + 8, const_method);
    image.put(const_method, pool);
    image.put(pool, klass);
    image.put<int32_t>(pool + 8, 1);
    image.put(pool + 72, symbol);  // the only constant is class, name and signature
    image.put(klass, symbol);
    image.put(klass + 8, methods);
    image.put<int32_t>(methods, 1);
    image.put(methods + 8, method);
    image.put<uint16_t>(symbol, 4);
    for (size_t i = 0; i < 4; ++i) image.put(symbol + 2 + i, "work"[i]);
    return method;
  }
  // As methods are known that were there before and after.
  void know(Address method) {
    if (methods_->at(method) == nullptr) std::abort();
  }
  void set_released_by_code() { walker_->set_released(StackWalker::kReleasedByCode); }
  void set_moment(uint64_t moment) { blobs_->set_moment(moment); }

  Jvm jvm;
  Address call_stub_return = 0, wrapper = 0, compiled = 0, return_barrier = 0, upcall = 0, interpreter = 0,
          deopt_handler = 0;                                                    // pcs
  static constexpr Address kOuter = 0xA000, kInner = 0xB000, kNative = 0xC000;  // Method*

 private:
  template <class T>
  static T taken(Result<T> found) {
    if (found) return std::move(*found);
    std::fprintf(stderr, "the image lacks something: %s\n", found.error().what.c_str());
    std::abort();
  }
  void layout(bool exports_upcalls) {
    Jvm& j = jvm;
    j.member("HeapBlock::Header", "_length", "size_t", 0);
    j.member("HeapBlock::Header", "_used", "bool", 8);
    j.type("HeapBlock", 16);
    const std::pair<const char*, uint64_t> of_blob[] = {{"_name", 8},        {"_size", 16},
                                                        {"_frame_size", 20}, {"_frame_complete_offset", 24},
                                                        {"_code_begin", 32}, {"_code_end", 40}};
    for (const auto& [name, offset] : of_blob) j.member("CodeBlob", name, "int", offset);
    const std::pair<const char*, uint64_t> of_compiled[] = {
        {"_method", 48}, {"_scopes_data_begin", 56}, {"_deopt_handler_begin", 64}, {"_deopt_mh_handler_begin", 72}};
    for (const auto& [name, offset] : of_compiled) j.member("CompiledMethod", name, "address", offset);
    const std::pair<const char*, uint64_t> of_nmethod[] = {{"_compile_id", 80},           {"_comp_level", 84},
                                                           {"_orig_pc_offset", 88},       {"_scopes_pcs_offset", 92},
                                                           {"_dependencies_offset", 96},  {"_metadata_offset", 100},
                                                           {"_verified_entry_point", 104}};
    for (const auto& [name, offset] : of_nmethod) j.member("nmethod", name, "int", offset);
    if (exports_upcalls) j.member("UpcallStub", "_frame_data_offset", "ByteSize", 112);
    j.member("CodeBlob", "_header_size", "int", 28);
    j.type("CodeBlob", 48);
    j.member("JavaCallWrapper", "_anchor", "JavaFrameAnchor", 32);
    j.member("JavaFrameAnchor", "_last_Java_sp", "intptr_t*", 0);
    j.member("JavaFrameAnchor", "_last_Java_pc", "address", 8);
    j.member("JavaFrameAnchor", "_last_Java_fp", "intptr_t*", 16);
    j.member("Method", "_constMethod", "ConstMethod*", 8);
    j.member("Method", "_access_flags", "AccessFlags", 16);
    const std::pair<const char*, uint64_t> of_const_method[] = {{"_constants", 0},   {"_constMethod_size", 8},
                                                                {"_flags", 12},      {"_code_size", 16},
                                                                {"_name_index", 18}, {"_signature_index", 20}};
    for (const auto& [name, offset] : of_const_method) j.member("ConstMethod", name, "int", offset);
    j.member("ConstantPool", "_pool_holder", "InstanceKlass*", 0);
    j.member("ConstantPool", "_length", "int", 8);
    j.member("Klass", "_name", "Symbol*", 0);
    j.member("InstanceKlass", "_methods", "Array<Method*>*", 8);
    j.member("Symbol", "_length", "u2", 0);
    j.member("Symbol", "_body", "u1", 2);
    j.type("ConstMethod", 48);
    j.type("ConstantPool", 72);
  }
  Address blob(int segment, int length, const char* name, int32_t frame) {
    const Address block = memory_ + static_cast<Address>(segment * kSegment);
    jvm.image.put<uint64_t>(block, static_cast<uint64_t>(length));
    jvm.image.put<uint8_t>(block + 8, 1);
    for (int i = 0; i < length; ++i) {
      jvm.image.put<uint8_t>(segmap_ + static_cast<Address>(segment + i), static_cast<uint8_t>(i));
    }
    const Address at = block + 16;
    jvm.image.put(at + 8, jvm.image.text(name));
    jvm.image.put<int32_t>(at + 16, length * kSegment - 16);
    jvm.image.put<int32_t>(at + 20, frame / 8);
    jvm.image.put<int32_t>(at + 24, 8);
    jvm.image.put<int32_t>(at + 28, 120);
    jvm.image.put(at + 32, code_of(at));
    jvm.image.put(at + 40, code_of(at) + 256);
    jvm.image.put(at + 48, kNative);
    jvm.image.put<int32_t>(at + 80, segment);
    jvm.image.put<int32_t>(at + 84, 4);
    jvm.image.put(at + 104, code_of(at));
    return at;
  }
  static Address code_of(Address blob) { return blob + 128; }
  // At `compiled`: kInner, bytecode 5, inlined into kOuter, bytecode 7.
  void debug_information() {
    jvm.image.put(compiled_ + 48, kOuter);
    const Address metadata = compiled_ + 1024, scopes = metadata + 16, pcs = scopes + 16;
    jvm.image.put(metadata, kOuter);
    jvm.image.put(metadata + 8, kInner);
    const uint8_t bytes[] = {0, 0, 1, 8, 1, 2, 6};
    for (size_t i = 0; i < sizeof(bytes); ++i) jvm.image.put(scopes + i, bytes[i]);
    const PcDesc rows[] = {{-1, 0, 0, 0}, {40, 4, 0, 0}, {1 << 30, 0, 0, 0}};
    for (size_t i = 0; i < 3; ++i) jvm.image.put(pcs + 16 * i, rows[i]);
    jvm.image.put(compiled_ + 56, scopes);
    jvm.image.put<int32_t>(compiled_ + 92, static_cast<int32_t>(pcs - compiled_));
    jvm.image.put<int32_t>(compiled_ + 96, static_cast<int32_t>(pcs + 48 - compiled_));
    jvm.image.put<int32_t>(compiled_ + 100, static_cast<int32_t>(metadata - compiled_));
  }
  void heaps() {
    const Address heap = jvm.image.reserve(256);
    jvm.image.put(heap, memory_);
    jvm.image.put(heap + 8, memory_ + kSegments * kSegment);
    jvm.image.put(heap + 64, segmap_);
    jvm.image.put<int32_t>(heap + 128, 7);
    const Address data = jvm.image.reserve(8), array = jvm.image.reserve(16), pointer = jvm.image.reserve(8);
    jvm.image.put(data, heap);
    jvm.image.put<int32_t>(array, 1);
    jvm.image.put(array + 8, data);
    jvm.image.put(pointer, array);
    jvm.static_member("CodeCache", "_heaps", pointer);
    jvm.member("GrowableArrayBase", "_len", "int", 0);
    jvm.member("GrowableArray<int>", "_data", "int*", 8);
    jvm.member("CodeHeap", "_memory", "VirtualSpace", 0);
    jvm.member("CodeHeap", "_segmap", "VirtualSpace", 64);
    jvm.member("CodeHeap", "_log2_segment_size", "int", 128);
    jvm.member("VirtualSpace", "_low", "char*", 0);
    jvm.member("VirtualSpace", "_high", "char*", 8);
  }

  // All code around `interpreter`.
  void queue_of_interpreter() {
    const Address queue = jvm.image.reserve(16), pointer = jvm.image.reserve(8);
    jvm.image.put(queue, interpreter - 32);
    jvm.image.put<int32_t>(queue + 8, 64);
    jvm.image.put(pointer, queue);
    jvm.static_member("AbstractInterpreter", "_code", pointer);
    jvm.member("StubQueue", "_stub_buffer", "address", 0);
    jvm.member("StubQueue", "_buffer_limit", "int", 8);
  }

  Address memory_ = 0, segmap_ = 0, compiled_ = 0;
  std::unique_ptr<VmStructs> structs_;
  std::unique_ptr<CodeCache> cache_;
  std::unique_ptr<CodeBlobs> blobs_;
  std::unique_ptr<Methods> methods_;
  std::unique_ptr<StackWalker> walker_;
};

// A stack that grows upwards in memory from sp, word by word.
class StackImage {
 public:
  static constexpr Address kSp = 0x7f0000000000;

  explicit StackImage(size_t words) : words_(words) {}
  uint64_t& operator[](size_t index) { return words_[index]; }
  static Address at(size_t index) { return kSp + 8 * index; }
  Fragment fragment;
  // A piece of the stack that lies in the heap.
  void freeze(Address begin, const std::vector<uint64_t>& words, bool cut = false, uint16_t below = 0) {
    FrozenPart part{};
    part.begin = begin;
    part.bytes = static_cast<uint32_t>(8 * words.size());
    part.cut = cut;
    part.below = below;
    append(&part, sizeof(part));
    append(words.data(), part.bytes);
  }
  [[nodiscard]] std::vector<uint8_t> bytes(size_t words) const {
    Fragment head = fragment;
    head.sp = kSp;
    head.stack_bytes = static_cast<uint32_t>(8 * words);
    head.frozen_bytes = static_cast<uint32_t>(frozen_.size());
    std::vector<uint8_t> all(sizeof(head) + 8 * words);
    std::memcpy(all.data(), &head, sizeof(head));
    std::memcpy(all.data() + sizeof(head), words_.data(), 8 * words);
    all.insert(all.end(), frozen_.begin(), frozen_.end());
    return all;
  }

 private:
  void append(const void* data, size_t size) {
    const auto* bytes = static_cast<const uint8_t*>(data);
    frozen_.insert(frozen_.end(), bytes, bytes + size);
  }
  std::vector<uint64_t> words_;
  std::vector<uint8_t> frozen_;
};

}  // namespace tarsier::hotspot
