// Walks over a fragment made by hand, in a code cache made by hand: a call stub, a compiled method with another one
// inlined into it, and a native wrapper.
#include "hotspot/stack_walker.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <tuple>
#include <vector>

#include "hotspot/image_for_test.h"
#include "hotspot/remembered_stack.h"

namespace tarsier::hotspot {
namespace {

class CodeImage {
 public:
  static constexpr int kSegments = 64, kSegment = 128;
  static constexpr int32_t kFrame = 48;  // bytes of the compiled method's frame

  CodeImage() {
    layout();
    memory_ = jvm.image.reserve(kSegments * kSegment, kSegment);
    segmap_ = jvm.image.reserve(kSegments);
    for (int i = 0; i < kSegments; ++i) jvm.image.put<uint8_t>(segmap_ + static_cast<Address>(i), 0xff);
    call_stub_return = code_of(blob(0, 8, "StubRoutines (1)", 0)) + 16;
    wrapper = code_of(blob(8, 8, "native nmethod", kFrame)) + 64;
    compiled_ = blob(16, 24, "nmethod", kFrame);
    compiled = code_of(compiled_) + 40;
    return_barrier = code_of(blob(40, 8, "StubRoutines (continuationstubs)", 0)) + 16;
    debug_information();
    heaps();
    const Address stub = jvm.image.reserve(8);
    jvm.image.put(stub, call_stub_return);
    jvm.static_member("StubRoutines", "_call_stub_return_address", stub);
  }

  // Everything that a walker stands on.
  void open(const NativeFrames* native = nullptr) {
    auto found = jvm.load();
    ASSERT_TRUE(found) << found.error().what;
    structs_ = std::make_unique<VmStructs>(std::move(*found));
    auto cache = CodeCache::find(jvm.image, *structs_);
    ASSERT_TRUE(cache) << cache.error().what;
    cache_ = std::make_unique<CodeCache>(std::move(*cache));
    auto blobs = CodeBlobs::find(jvm.image, *structs_, *cache_, 17);
    ASSERT_TRUE(blobs) << blobs.error().what;
    blobs_ = std::make_unique<CodeBlobs>(std::move(*blobs));
    auto methods = Methods::find(jvm.image, *structs_, 17);
    ASSERT_TRUE(methods) << methods.error().what;
    methods_ = std::make_unique<Methods>(std::move(*methods));
    auto walker = StackWalker::find(jvm.image, *structs_, *blobs_, *methods_, Machine::aarch64(), 17, native);
    ASSERT_TRUE(walker) << walker.error().what;
    walker_ = std::make_unique<StackWalker>(*walker);
  }
  WalkedStack walk(const std::vector<uint8_t>& fragment, RememberedStack* remembered = nullptr) {
    WalkedStack out;
    walker_->walk(*reinterpret_cast<const Fragment*>(fragment.data()), 100, out, remembered);
    if (remembered != nullptr) remembered->keep(out);
    return out;
  }
  // Other code takes the place of the compiled method.
  void replace_compiled() { jvm.image.put<int32_t>(compiled_ + 80, 4711); }
  void unload_classes() { methods_->set_epochs(1, 1); }

  Jvm jvm;
  Address call_stub_return = 0, wrapper = 0, compiled = 0, return_barrier = 0;  // pcs
  static constexpr Address kOuter = 0xA000, kInner = 0xB000, kNative = 0xC000;  // Method*

 private:
  void layout() {
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
    j.member("JavaCallWrapper", "_anchor", "JavaFrameAnchor", 32);
    j.member("JavaFrameAnchor", "_last_Java_sp", "intptr_t*", 0);
    j.member("JavaFrameAnchor", "_last_Java_pc", "address", 8);
    j.member("JavaFrameAnchor", "_last_Java_fp", "intptr_t*", 16);
    for (const char* field : {"_constMethod", "_access_flags"}) j.member("Method", field, "int", 0);
    for (const char* field :
         {"_constants", "_constMethod_size", "_flags", "_code_size", "_name_index", "_signature_index"}) {
      j.member("ConstMethod", field, "int", 0);
    }
    for (const char* field : {"_pool_holder", "_length"}) j.member("ConstantPool", field, "int", 0);
    j.member("Klass", "_name", "Symbol*", 0);
    j.member("InstanceKlass", "_methods", "int", 0);
    for (const char* field : {"_length", "_body"}) j.member("Symbol", field, "int", 0);
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
  void freeze(Address begin, const std::vector<uint64_t>& words, bool cut = false) {
    FrozenPart part{};
    part.begin = begin;
    part.bytes = static_cast<uint32_t>(8 * words.size());
    part.cut = cut;
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

// compiled (frame of 6 words) <- wrapper (6 words) <- call stub, the thread's first entry into Java.
StackImage two_frames(const CodeImage& code) {
  StackImage stack(48);
  stack.fragment = {};
  stack.fragment.pc = code.compiled - 4;  // the instruction that the debug information behind it is about
  stack.fragment.thread_state = kThreadInJava;
  stack[4] = 0x111;  // saved fp
  stack[5] = code.wrapper;
  stack[10] = StackImage::at(30);  // fp of the call stub's frame
  stack[11] = code.call_stub_return;
  stack[30 - 8] = StackImage::at(32);  // its JavaCallWrapper, whose anchor lies 4 words in: all zero
  return stack;
}

TEST(StackWalker, finds_inlined_methods_wrappers_and_the_entry_frame) {
  CodeImage code;
  code.open();
  const WalkedStack walked = code.walk(two_frames(code).bytes(48));
  EXPECT_EQ(walked.end, WalkEnd::kComplete) << name_of(walked.end);
  ASSERT_EQ(walked.frames.size(), 3u);
  EXPECT_EQ(walked.frames[0].method, CodeImage::kInner);
  EXPECT_EQ(walked.frames[0].bci, 5);
  EXPECT_EQ(walked.frames[0].kind, FrameKind::kInlined);
  EXPECT_EQ(walked.frames[1].method, CodeImage::kOuter);
  EXPECT_EQ(walked.frames[1].bci, 7);
  EXPECT_EQ(walked.frames[1].kind, FrameKind::kC2);
  EXPECT_EQ(walked.frames[2].method, CodeImage::kNative);
  EXPECT_EQ(walked.frames[2].kind, FrameKind::kNative);
}

TEST(StackWalker, code_with_a_frame_that_no_stack_holds_is_no_code) {
  CodeImage code;
  const Address frame_words = code.compiled - 40 - 128 + 20;  // CodeBlob::_frame_size
  code.jvm.image.put<int32_t>(frame_words, 0x7eeeeeee);
  code.open();
  const WalkedStack walked = code.walk(two_frames(code).bytes(48));
  EXPECT_FALSE(walked.end == WalkEnd::kComplete);
  EXPECT_TRUE(walked.frames.empty());
}

TEST(StackWalker, starts_at_the_anchor_where_the_thread_has_left_java) {
  CodeImage code;
  code.open();
  StackImage stack = two_frames(code);
  stack.fragment.pc = 0x1234;  // somewhere in the JVM
  stack.fragment.thread_state = 4;
  stack.fragment.anchor = {StackImage::at(6), code.wrapper, 0};
  const WalkedStack walked = code.walk(stack.bytes(48));
  EXPECT_EQ(walked.end, WalkEnd::kComplete);
  EXPECT_EQ(walked.start, WalkStart::kAnchor);
  ASSERT_EQ(walked.frames.size(), 1u);
  EXPECT_EQ(walked.frames[0].method, CodeImage::kNative);
  stack.fragment.anchor = {};
  EXPECT_EQ(code.walk(stack.bytes(48)).end, WalkEnd::kNoJavaFrame);
}

// Two native functions: one with a frame record in its two words, and the one that threads begin in.
class TwoFunctions final : public NativeFrames {
 public:
  static constexpr Address kWork = 0x1230, kBegin = 0x2340;
  std::optional<UnwindRule> rule_at(Address pc) const override {
    if (pc >= kWork && pc < kWork + 16) return UnwindRule{false, 16, true, -8, true, -16, false};
    if (pc >= kBegin && pc < kBegin + 16) return UnwindRule{false, 0, false, 0, false, 0, true};
    return std::nullopt;
  }
};

// native <- native wrapper <- call stub, and nobody has noted where Java was left.
StackImage without_anchor(const CodeImage& code) {
  StackImage stack(48);
  stack.fragment = {};
  stack.fragment.pc = TwoFunctions::kWork + 4;
  stack.fragment.thread_state = kThreadStateUnknown;
  stack.fragment.anchor = {4711, 4711, 4711};
  stack[1] = code.wrapper;
  stack[6] = StackImage::at(30);
  stack[7] = code.call_stub_return;
  stack[30 - 8] = StackImage::at(32);
  return stack;
}

TEST(StackWalker, without_an_anchor_native_frames_are_unwound_until_java_begins) {
  const TwoFunctions native;
  CodeImage code;
  code.open(&native);
  StackImage stack = without_anchor(code);
  WalkedStack walked = code.walk(stack.bytes(48));
  EXPECT_EQ(walked.end, WalkEnd::kComplete) << name_of(walked.end);
  EXPECT_EQ(walked.start, WalkStart::kUnwound);
  ASSERT_EQ(walked.frames.size(), 1u);
  EXPECT_EQ(walked.frames[0].method, CodeImage::kNative);

  // Compiled code calls nothing but leaves itself.
  stack = without_anchor(code);
  stack[1] = code.compiled;
  stack[7] = code.wrapper;
  stack[12] = StackImage::at(30);
  stack[13] = code.call_stub_return;
  walked = code.walk(stack.bytes(48));
  EXPECT_EQ(walked.end, WalkEnd::kComplete) << name_of(walked.end);
  EXPECT_EQ(walked.start, WalkStart::kNativeLeaf);
  EXPECT_EQ(walked.frames.size(), 3u);

  stack = two_frames(code);
  stack.fragment.thread_state = kThreadStateUnknown;
  walked = code.walk(stack.bytes(48));
  EXPECT_EQ(walked.end, WalkEnd::kComplete) << name_of(walked.end);
  EXPECT_EQ(walked.start, WalkStart::kPlain);
}

TEST(StackWalker, without_an_anchor_a_stack_has_no_java_frame_only_if_its_beginning_is_seen) {
  const TwoFunctions native;
  CodeImage code;
  code.open(&native);
  StackImage stack = without_anchor(code);
  stack[1] = TwoFunctions::kBegin + 4;
  EXPECT_EQ(code.walk(stack.bytes(48)).end, WalkEnd::kNoJavaFrame);
  stack[1] = 0x9990;  // a library that nobody knows
  EXPECT_EQ(code.walk(stack.bytes(48)).end, WalkEnd::kNoSender);
  EXPECT_EQ(code.walk(stack.bytes(1)).end, WalkEnd::kTooShort);
}

TEST(StackWalker, a_fragment_of_any_length_ends_in_a_word_not_in_a_crash) {
  CodeImage code;
  code.open();
  const StackImage stack = two_frames(code);
  for (size_t words = 0; words < 48; ++words) {
    const WalkedStack walked = code.walk(stack.bytes(words));
    const bool has_all = words >= 39;  // up to the end of the anchor
    EXPECT_EQ(walked.end, has_all ? WalkEnd::kComplete : WalkEnd::kTooShort) << words << " " << name_of(walked.end);
  }
}

TEST(StackWalker, a_return_address_that_is_none_is_not_believed) {
  CodeImage code;
  code.open();
  StackImage stack = two_frames(code);
  stack[5] = 0x4711;
  EXPECT_EQ(code.walk(stack.bytes(48)).end, WalkEnd::kNoSender);
  stack = two_frames(code);
  stack[11] = 0x4711;
  EXPECT_EQ(code.walk(stack.bytes(48)).end, WalkEnd::kNoCode);
  stack = two_frames(code);
  stack[30 - 8] = 8;
  EXPECT_EQ(code.walk(stack.bytes(48)).end, WalkEnd::kBadEntryFrame);
}

// compiled, 5 times (frames of 6 words) <- call stub.
StackImage recursion(const CodeImage& code) {
  StackImage stack(64);
  stack.fragment = {};
  stack.fragment.pc = code.compiled - 4;
  stack.fragment.thread_state = kThreadInJava;
  for (size_t frame = 0; frame < 5; ++frame) stack[6 * frame + 5] = code.compiled;
  stack[28] = StackImage::at(46);
  stack[29] = code.call_stub_return;
  stack[46 - 8] = StackImage::at(48);
  return stack;
}

std::vector<std::tuple<FrameKind, Address, int32_t, bool>> content(const WalkedStack& walked) {
  std::vector<std::tuple<FrameKind, Address, int32_t, bool>> all;
  for (const WalkedFrame& frame : walked.frames) {
    all.emplace_back(frame.kind, frame.method, frame.bci, frame.called_by_vm);
  }
  return all;
}

TEST(StackWalker, what_the_threads_last_stack_had_is_not_walked_again) {
  CodeImage code;
  code.open();
  RememberedStack remembered;
  StackImage stack = recursion(code);
  const WalkedStack first = code.walk(stack.bytes(64), &remembered);
  EXPECT_EQ(first.end, WalkEnd::kComplete) << name_of(first.end);
  EXPECT_EQ(first.reused, 0u);
  EXPECT_EQ(first.frames.size(), 10u);
  for (int again = 0; again < 3; ++again) {
    const WalkedStack second = code.walk(stack.bytes(64), &remembered);
    EXPECT_EQ(second.reused, 8u) << "all but the innermost frame, which has two methods";
    EXPECT_EQ(content(second), content(first));
    EXPECT_EQ(second.highest, first.highest);
  }
  EXPECT_EQ(code.walk(stack.bytes(16), &remembered).end, WalkEnd::kTooShort);
  EXPECT_GE(code.walk(stack.bytes(64), &remembered).reused, 4u) << "the outer frames are still known";
  stack[10] = 0x333;  // what the frame in between has saved
  EXPECT_EQ(code.walk(stack.bytes(64), &remembered).reused, 6u);
  stack[29] = code.wrapper;
  EXPECT_EQ(content(code.walk(stack.bytes(64), &remembered)), content(code.walk(stack.bytes(64))));
}

TEST(StackWalker, a_last_stack_of_other_code_or_of_unloaded_classes_is_not_believed) {
  CodeImage code;
  code.open();
  RememberedStack remembered;
  const StackImage stack = recursion(code);
  code.walk(stack.bytes(64), &remembered);
  code.unload_classes();
  EXPECT_EQ(code.walk(stack.bytes(64), &remembered).reused, 0u);
  EXPECT_EQ(code.walk(stack.bytes(64), &remembered).reused, 8u);
  code.replace_compiled();
  EXPECT_EQ(code.walk(stack.bytes(64), &remembered).reused, 0u);
}

// Whatever a thread does between two samples, its stack is what it would be without any memory of the last one.
TEST(StackWalker, a_walk_with_a_last_stack_finds_what_one_without_it_does) {
  CodeImage code;
  code.open();
  std::mt19937_64 random(2);
  const uint64_t interesting[] = {0,
                                  StackImage::at(20),
                                  StackImage::at(46),
                                  StackImage::at(47),
                                  code.compiled,
                                  code.wrapper,
                                  code.return_barrier,
                                  code.call_stub_return};
  RememberedStack remembered;
  size_t reused = 0;
  for (int round = 0; round < 20'000; ++round) {
    StackImage stack = recursion(code);
    for (uint64_t changes = random() % 3; changes > 0; --changes) {
      stack[random() % 64] = interesting[random() % std::size(interesting)];
    }
    if (round % 5 == 0) stack.fragment.anchor = {StackImage::at(6 * (random() % 4)), code.compiled, 0};
    const auto bytes = stack.bytes(round % 7 == 0 ? random() % 65 : 64);
    const WalkedStack with = code.walk(bytes, &remembered);
    const WalkedStack without = code.walk(bytes);
    reused += with.reused;
    ASSERT_EQ(with.end, without.end) << round;
    ASSERT_EQ(content(with), content(without)) << round;
    ASSERT_TRUE(with.end != WalkEnd::kComplete || with.highest == without.highest) << round;
  }
  EXPECT_GT(reused, 10'000u);
}

// A virtual thread: compiled (on the stack) <- return barrier; in the heap compiled, and in another object compiled and
// a native wrapper.
StackImage virtual_thread(const CodeImage& code) {
  StackImage stack(12);
  stack.fragment = {};
  stack.fragment.pc = code.compiled - 4;
  stack.fragment.thread_state = kThreadInJava;
  stack.fragment.virtual_id = 33;
  stack[5] = code.return_barrier;
  stack.freeze(0x10000, {0, code.compiled, 0, 0, 0, 0, 0, 0});
  stack.freeze(0x20000, {0, code.compiled, 0, 0, 0, 0, 0, code.wrapper, 0, 0, 0, 0, 0, 0});
  return stack;
}

TEST(StackWalker, goes_on_in_the_heap_where_a_virtual_thread_has_its_frames) {
  CodeImage code;
  code.open();
  const WalkedStack walked = code.walk(virtual_thread(code).bytes(12));
  EXPECT_EQ(walked.end, WalkEnd::kComplete) << name_of(walked.end);
  EXPECT_TRUE(walked.is_virtual);
  std::vector<Address> methods;
  for (const WalkedFrame& frame : walked.frames) methods.push_back(frame.method);
  EXPECT_EQ(methods, (std::vector<Address>{CodeImage::kInner, CodeImage::kOuter, CodeImage::kInner, CodeImage::kOuter,
                                           CodeImage::kInner, CodeImage::kOuter, CodeImage::kNative}));
}

TEST(StackWalker, frames_that_are_missing_in_the_heap_are_said_to_be) {
  CodeImage code;
  code.open();
  StackImage stack = virtual_thread(code);
  stack.fragment.frozen_cut = true;
  EXPECT_EQ(code.walk(stack.bytes(12)).end, WalkEnd::kNotThawed);
  stack = virtual_thread(code);
  stack.freeze(0x30000, {0, code.compiled}, true);
  EXPECT_EQ(code.walk(stack.bytes(12)).end, WalkEnd::kTooShort);
  stack = virtual_thread(code);
  stack.freeze(0x30000, {0, 0x4711, 0, 0});
  EXPECT_EQ(code.walk(stack.bytes(12)).end, WalkEnd::kNoCode);
  StackImage none(12);
  none.fragment = stack.fragment;
  none[5] = code.return_barrier;
  EXPECT_EQ(code.walk(none.bytes(12)).end, WalkEnd::kNotThawed);
}

// What the thread had on its stack and in its registers may be anything. Under the sanitizers no read leaves the
// fragment.
TEST(StackWalker, whatever_lies_on_the_stack_is_read_within_it) {
  const TwoFunctions native;
  CodeImage code;
  code.open(&native);
  std::mt19937_64 random(1);
  const uint64_t interesting[] = {0,
                                  ~uint64_t{0},
                                  ~uint64_t{7},
                                  ~uint64_t{47},
                                  StackImage::kSp,
                                  StackImage::at(20),
                                  StackImage::at(47),
                                  StackImage::at(48),
                                  code.compiled,
                                  code.compiled - 900,
                                  code.compiled + 2000,
                                  code.wrapper,
                                  code.return_barrier,
                                  0x10000,
                                  TwoFunctions::kWork + 4,
                                  code.call_stub_return};
  const auto any = [&] { return interesting[random() % std::size(interesting)]; };
  for (int round = 0; round < 20'000; ++round) {
    StackImage stack = two_frames(code);
    for (uint64_t changes = 1 + random() % 6; changes > 0; --changes) stack[random() % 48] = any();
    if (round % 2 == 0) stack.fragment.pc = any();
    if (round % 3 == 0) stack.fragment.fp = any();
    if (round % 4 == 0) stack.fragment.anchor = {any(), any(), any()};
    if (round % 5 == 0) stack.fragment.general[random() % kGeneralRegisters] = any();
    if (round % 7 == 0) stack.fragment.thread_state = 4;
    if (round % 7 == 1) stack.fragment.thread_state = kThreadStateUnknown;
    if (round % 2 == 1) {
      std::vector<uint64_t> words(random() % 16);
      for (uint64_t& word : words) word = any();
      stack.freeze(round % 3 == 0 ? any() : 0x10000, words);
    }
    const WalkedStack walked = code.walk(stack.bytes(random() % 49));
    EXPECT_LE(walked.frames.size(), 101u);
  }
}

}  // namespace
}  // namespace tarsier::hotspot
