// Walks over fragments made by hand, in a code cache made by hand.
#include "hotspot/stack_walker.h"

#include <gtest/gtest.h>

#include <random>
#include <tuple>
#include <vector>

#include "hotspot/code_image_for_test.h"
#include "hotspot/remembered_stack.h"

namespace tarsier::hotspot {
namespace {

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

TEST(StackWalker, code_without_a_name_is_no_code) {
  CodeImage code;
  code.jvm.image.put<Address>(code.compiled - 40 - 128 + 8, 0);  // CodeBlob::_name
  code.open();
  for (const WalkedFrame& frame : code.walk(two_frames(code).bytes(48)).frames)
    EXPECT_EQ(frame.method, CodeImage::kNative);
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

// wrapper <- compiled, which will be deoptimised when it is returned to <- call stub.
TEST(StackWalker, who_has_called_the_method_that_releases_keeps_its_inlined_methods_while_it_is_deoptimised) {
  CodeImage code;
  code.open();
  StackImage stack = two_frames(code);
  stack.fragment.pc = 0x1234;  // in the JVM, which the native method has called
  stack.fragment.thread_state = 4;
  stack.fragment.anchor = {StackImage::at(0), code.wrapper, 0};
  stack[5] = code.deopt_handler;
  stack[6 + CodeImage::kOriginalPc / 8] = code.compiled;
  for (const bool releases : {false, true}) {
    if (releases) code.set_released_by_code();
    const WalkedStack walked = code.walk(stack.bytes(48));
    EXPECT_EQ(walked.end, WalkEnd::kComplete) << name_of(walked.end);
    ASSERT_EQ(walked.frames.size(), 3u) << releases;
    EXPECT_EQ(walked.frames[1].method, CodeImage::kInner);
    EXPECT_EQ(walked.frames[2].bci, 7);
  }
}

// compiled <- upcall stub <- C code that the compiled method's caller, a native wrapper, has called.
StackImage upcalled(const CodeImage& code) {
  StackImage stack(64);
  stack.fragment = {};
  stack.fragment.pc = code.compiled - 4;
  stack.fragment.thread_state = kThreadInJava;
  stack[5] = code.upcall;
  const size_t anchor = 6 + CodeImage::kSavedAnchor / 8, caller = 20;
  stack[anchor] = StackImage::at(caller);
  stack[anchor + 1] = code.wrapper;
  stack[caller + 4] = StackImage::at(50);  // fp of the call stub's frame
  stack[caller + 5] = code.call_stub_return;
  stack[50 - 8] = StackImage::at(52);
  return stack;
}

TEST(StackWalker, behind_an_upcall_comes_who_has_called_the_c_code) {
  for (const bool exported : {true, false}) {
    CodeImage code(exported);
    code.open();
    StackImage stack = upcalled(code);
    RememberedStack remembered;
    for (int i = 0; i < 2; ++i) {
      const WalkedStack walked = code.walk(stack.bytes(64), &remembered);
      EXPECT_EQ(walked.end, WalkEnd::kComplete) << name_of(walked.end);
      ASSERT_EQ(walked.frames.size(), 3u);
      EXPECT_EQ(walked.frames[1].method, CodeImage::kOuter);
      EXPECT_TRUE(walked.frames[1].called_by_vm);
      EXPECT_EQ(walked.frames[2].method, CodeImage::kNative);
    }
    // In the stub itself, its frame at sp.
    stack.fragment.pc = code.upcall + 4;
    stack[CodeImage::kSavedAnchor / 8] = StackImage::at(20);
    stack[CodeImage::kSavedAnchor / 8 + 1] = code.wrapper;
    const WalkedStack in_stub = code.walk(stack.bytes(64));
    EXPECT_EQ(in_stub.end, WalkEnd::kComplete) << name_of(in_stub.end);
    ASSERT_EQ(in_stub.frames.size(), 2u);
    EXPECT_EQ(in_stub.frames[1].method, CodeImage::kNative);
  }
}

TEST(StackWalker, an_upcall_of_a_thread_that_c_code_has_started_is_its_beginning) {
  CodeImage code;
  code.open();
  StackImage stack = upcalled(code);
  stack[6 + CodeImage::kSavedAnchor / 8] = 0;
  const WalkedStack walked = code.walk(stack.bytes(64));
  EXPECT_EQ(walked.end, WalkEnd::kComplete) << name_of(walked.end);
  EXPECT_EQ(walked.frames.size(), 2u);
}

TEST(StackWalker, an_upcall_whose_anchor_lies_below_it_is_not_believed) {
  CodeImage code;
  code.open();
  StackImage stack = upcalled(code);
  stack[6 + CodeImage::kSavedAnchor / 8] = StackImage::at(2);
  EXPECT_FALSE(code.walk(stack.bytes(64)).complete());
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
  stack[11] = 0;  // as the places for known ones have that are still free
  EXPECT_EQ(code.walk(stack.bytes(48)).end, WalkEnd::kNoCode);
  stack = two_frames(code);
  stack[30 - 8] = 8;
  EXPECT_EQ(code.walk(stack.bytes(48)).end, WalkEnd::kBadEntryFrame);
}

// Interpreted, 5 times (frame records 10 words apart) <- call stub. The image has no method that is not made by hand:
// these could be of classes that are gone.
StackImage interpreted(const CodeImage& code) {
  StackImage stack(112);
  stack.fragment = {};
  stack.fragment.pc = code.interpreter;
  stack.fragment.thread_state = kThreadInJava;
  stack.fragment.fp = StackImage::at(10);
  for (size_t record = 10; record <= 50; record += 10) {
    stack[record - 3] = 0xD000;                      // Method*
    stack[record - 1] = StackImage::at(record - 2);  // its caller's expressions reach into this frame
    stack[record] = StackImage::at(record < 50 ? record + 10 : 90);
    stack[record + 1] = record < 50 ? code.interpreter : code.call_stub_return;
  }
  stack[90 - 8] = StackImage::at(100);
  return stack;
}

TEST(StackWalker, frames_of_classes_that_are_gone_are_told_by_their_callers) {
  CodeImage code;
  code.open();
  StackImage stack = interpreted(code);
  EXPECT_EQ(code.walk(stack.bytes(112)).end, WalkEnd::kNoMethod) << "nothing was unloaded, so it is none";
  code.unload_classes_since();
  const WalkedStack walked = code.walk(stack.bytes(112));
  EXPECT_EQ(walked.end, WalkEnd::kComplete) << name_of(walked.end);
  EXPECT_EQ(walked.frames.size(), 5u);
  for (const WalkedFrame& frame : walked.frames) EXPECT_EQ(frame.info, nullptr);
  EXPECT_FALSE(walked.certain);
  stack[31] = 0x4711;  // the third one's caller
  EXPECT_EQ(code.walk(stack.bytes(112)).end, WalkEnd::kNoMethod);
}

TEST(StackWalker, a_frame_of_a_class_that_is_gone_is_not_that_of_a_method_which_was_called_before) {
  CodeImage code;
  const Address called_before = code.method();
  code.open();
  code.know(called_before);
  StackImage stack = interpreted(code);
  stack.fragment.general[12] = called_before;  // as at the entry of a method
  WalkedStack walked = code.walk(stack.bytes(112));
  ASSERT_GT(walked.frames.size(), 0u);
  EXPECT_NE(walked.frames[0].info, nullptr) << "nothing was unloaded, so there is no other frame yet";
  code.unload_classes_since();
  walked = code.walk(stack.bytes(112));
  EXPECT_EQ(walked.end, WalkEnd::kComplete) << name_of(walked.end);
  EXPECT_EQ(walked.frames.size(), 5u);
  for (const WalkedFrame& frame : walked.frames) EXPECT_EQ(frame.info, nullptr);
}

TEST(StackWalker, an_interpreted_frame_of_nothing_but_zeros_is_none) {
  CodeImage code;
  code.open();
  StackImage stack = two_frames(code);
  stack[5] = code.interpreter;
  stack[4] = StackImage::at(24);
  for (size_t i = 6; i < 48; ++i) stack[i] = 0;
  for (int i = 0; i < 2; ++i) {
    const WalkedStack walked = code.walk(stack.bytes(48));
    EXPECT_EQ(walked.end, WalkEnd::kNoMethod) << name_of(walked.end);
    EXPECT_EQ(walked.frames.size(), 2u) << "only the two that are compiled";
  }
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
  for (size_t i = 0; i < walked.size(); ++i) {
    const WalkedFrame& frame = walked.at(i);
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

TEST(StackWalker, frames_of_the_last_stack_may_be_left_there) {
  CodeImage code;
  code.open();
  const StackImage stack = recursion(code);
  const WalkedStack whole = code.walk(stack.bytes(64));
  RememberedStack remembered;
  WalkedStack walked;
  for (const size_t reused : {0, 8, 8}) {
    code.walk_leaving_out(stack.bytes(64), remembered, walked);
    EXPECT_EQ(walked.reused, reused);
    EXPECT_EQ(walked.outer.size(), reused);
    EXPECT_EQ(walked.new_frames(), walked.frames.size());
    EXPECT_EQ(content(walked), content(whole));
    remembered.keep(walked);
  }
}

TEST(StackWalker, checks_of_calls_are_counted_for_each_part_of_the_last_stack) {
  CodeImage code;
  code.open();
  const StackImage stack = recursion(code);
  RememberedStack remembered;
  WalkedStack walked;
  code.walk_leaving_out(stack.bytes(64), remembered, walked);
  ASSERT_EQ(walked.frames.size(), 10u);
  for (size_t i = 0; i < walked.frames.size(); ++i) walked.frames[i].call_of = i < 6 ? Edge::kWrong : Edge::kRight;
  walked.frames[7].kind = FrameKind::kLibrary;
  remembered.keep(walked);
  ASSERT_EQ(remembered.frames().size(), 8u) << "the two innermost are not remembered";
  EXPECT_EQ(remembered.edges(Edge::kRight), 1u) << "none of native code, nor by it, nor of the outermost frame";
  EXPECT_EQ(remembered.edges(Edge::kWrong), 4u);
  EXPECT_EQ(remembered.edges(Edge::kUncheckable), 0u);
  remembered.shorten(remembered.steps().size() - 1);
  ASSERT_EQ(remembered.frames().size(), 6u);
  EXPECT_EQ(remembered.edges(Edge::kRight), 1u);
  EXPECT_EQ(remembered.edges(Edge::kWrong), 2u);
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

TEST(StackWalker, whether_code_is_still_there_is_looked_up_once_in_a_moment) {
  CodeImage code;
  code.open();
  RememberedStack remembered;
  const StackImage stack = recursion(code);
  const auto compile_ids = [&](RememberedStack* last) {
    const WalkedStack walked = code.walk(stack.bytes(64), last);
    EXPECT_EQ(walked.end, WalkEnd::kComplete) << name_of(walked.end);
    return std::pair(walked.frames.front().blob->compile_id, walked.reused);
  };
  using Found = std::pair<int32_t, size_t>;
  code.set_moment(1);
  EXPECT_EQ(compile_ids(&remembered), Found(16, 0));
  EXPECT_EQ(compile_ids(nullptr), Found(16, 0));
  code.replace_compiled();
  EXPECT_EQ(compile_ids(&remembered), Found(16, 8)) << "all of these were copied before";
  EXPECT_EQ(compile_ids(nullptr), Found(16, 0));
  code.set_moment(2);
  EXPECT_EQ(compile_ids(&remembered), Found(4711, 0));
  EXPECT_EQ(compile_ids(&remembered), Found(4711, 8));
  EXPECT_EQ(compile_ids(nullptr), Found(4711, 0));
}

// Code that was freed looks as it did, and what it was may have become a part of other code.
TEST(StackWalker, code_that_was_freed_is_no_longer_there) {
  CodeImage code;
  code.open();
  const StackImage stack = two_frames(code);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(code.walk(stack.bytes(48)).frames.front().method, CodeImage::kInner);
  code.free_compiled();
  for (const WalkedFrame& frame : code.walk(stack.bytes(48)).frames) EXPECT_EQ(frame.method, CodeImage::kNative);
}

// A stub <- the same without a frame to show <- call stub <- wrapper: that the JVM has called the stub is told by the
// call stub, also if all from the second frame on is known.
TEST(StackWalker, a_known_entry_frame_still_tells_about_what_it_has_called) {
  CodeImage code;
  code.jvm.image.put(code.compiled - 40 - 128 + 8, code.jvm.image.text("some_runtime_stub"));  // CodeBlob::_name
  code.open();
  StackImage stack(80);
  stack.fragment = {};
  stack.fragment.pc = code.compiled;
  stack.fragment.thread_state = kThreadInJava;
  stack[5] = code.compiled;
  stack[10] = StackImage::at(20);  // fp of the call stub's frame
  stack[11] = code.call_stub_return;
  stack[20 - 8] = StackImage::at(32);  // its JavaCallWrapper, with the anchor of who has called
  stack[36] = StackImage::at(40);
  stack[37] = code.wrapper;
  stack[44] = StackImage::at(60);
  stack[45] = code.call_stub_return;
  stack[60 - 8] = StackImage::at(62);
  RememberedStack remembered;
  for (int i = 0; i < 2; ++i) {
    const WalkedStack walked = code.walk(stack.bytes(80), &remembered);
    EXPECT_EQ(walked.end, WalkEnd::kComplete) << name_of(walked.end);
    ASSERT_EQ(walked.frames.size(), 2u);
    EXPECT_EQ(walked.frames[0].kind, FrameKind::kStub);
    EXPECT_TRUE(walked.frames[0].called_by_vm) << i;
    EXPECT_EQ(walked.frames[1].method, CodeImage::kNative);
  }
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

// In the JVM's code that moves frames to the stack; in the heap lie two compiled frames, of which the JVM says that
// `left` have left, and there is room for so many words of frames.
StackImage thawing(const CodeImage& code, uint16_t left, uint64_t room) {
  StackImage stack(40);
  stack.fragment = {};
  stack.fragment.pc = TwoFunctions::kWork + 4;
  stack.fragment.thread_state = kThreadInJava;
  stack.fragment.virtual_id = 33;
  stack[1] = code.return_barrier;
  constexpr uint64_t kPushed = 4, kMore = 4;  // around the call and for the result; link, pc, and alignment
  stack.fragment.continuation = StackImage::at(2 + kPushed + room + kMore);
  const auto below = static_cast<uint16_t>(left * CodeImage::kFrame / 8);
  stack.freeze(0x10000, {0, code.compiled, 0, 0, 0, 0, 0, code.compiled, 0, 0, 0, 0, 0, 0}, false, below);
  return stack;
}

TEST(StackWalker, frames_on_their_way_to_the_stack_are_found_in_the_heap) {
  const TwoFunctions native;
  CodeImage code;
  code.open(&native);
  constexpr uint64_t kBoth = 12, kOne = 6;
  const auto methods = [](const WalkedStack& walked) {
    size_t count = 0;
    for (const WalkedFrame& frame : walked.frames) count += frame.kind == FrameKind::kC2 ? 1 : 0;
    return count;
  };
  for (const uint16_t left : {0, 1, 2}) {
    const WalkedStack walked = code.walk(thawing(code, left, kBoth).bytes(40));
    EXPECT_EQ(walked.end, WalkEnd::kComplete) << name_of(walked.end) << left;
    EXPECT_EQ(methods(walked), 2u) << left;
  }
  // The outer one alone: the other was returned from before, and is still to be seen.
  const WalkedStack outer = code.walk(thawing(code, 1, kOne).bytes(40));
  EXPECT_EQ(outer.end, WalkEnd::kComplete) << name_of(outer.end);
  EXPECT_EQ(methods(outer), 1u);
  // Room for what is not there.
  for (const uint64_t room : {3, 9, 15, 30}) {
    const WalkedStack walked = code.walk(thawing(code, 1, room).bytes(40));
    EXPECT_EQ(walked.end, WalkEnd::kThawing) << name_of(walked.end) << room;
  }
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
