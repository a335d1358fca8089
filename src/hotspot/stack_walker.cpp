#include "hotspot/stack_walker.h"

#include "hotspot/walk.h"

namespace tarsier::hotspot {

std::string_view name_of(WalkEnd end) {
  constexpr std::string_view kNames[] = {
      "complete",           "no Java frame",   "fragment too short", "no sender", "no code",
      "no method",          "bad entry frame", "bad anchor",         "too deep",  "frozen frames not copied",
      "frames being thawed"};
  static_assert(std::size(kNames) == static_cast<size_t>(WalkEnd::kCount));
  return kNames[static_cast<size_t>(end)];
}

std::string_view name_of(WalkStart start) {
  constexpr std::string_view kNames[] = {"plain", "anchor",      "half-built frame", "adapter",
                                         "stub",  "native leaf", "unwound",          "signal"};
  static_assert(std::size(kNames) == static_cast<size_t>(WalkStart::kCount));
  return kNames[static_cast<size_t>(start)];
}

Result<StackWalker> StackWalker::find(const Memory& memory, const VmStructs& structs, CodeBlobs& blobs,
                                      Methods& methods, const Machine& machine, int major, const NativeFrames* native) {
  StackWalker walker(memory, blobs, methods, machine, major);
  walker.native_ = native;
  const auto call_stub = structs.address("StubRoutines", "_call_stub_return_address");
  const auto anchor = structs.offset("JavaCallWrapper", "_anchor");
  const auto sp = structs.offset("JavaFrameAnchor", "_last_Java_sp");
  const auto pc = structs.offset("JavaFrameAnchor", "_last_Java_pc");
  const auto fp = structs.offset("JavaFrameAnchor", "_last_Java_fp");
  if (!call_stub || !anchor || !sp || !pc || !fp) {
    return Error{Errc::kUnsupported, "this JVM's vmStructs do not tell how Java code is entered"};
  }
  walker.call_stub_return_ = memory.read<Address>(*call_stub).value_or(0);
  if (walker.call_stub_return_ == 0) return Error{Errc::kUnsupported, "this JVM has not started up yet"};
  walker.wrapper_anchor_ = *anchor;
  walker.anchor_sp_ = *sp;
  walker.anchor_pc_ = *pc;
  walker.anchor_fp_ = *fp;
  return walker;
}

void StackWalker::walk(const Fragment& fragment, size_t max_depth, WalkedStack& out, RememberedStack* remembered) {
  out.start_over(fragment.sp, methods_->settled_epoch(), blobs_->moment());
  blobs_->end_walk();  // nobody needs the last stack's any more
  forgotten_.clear();
  ++walks_;
  if (remembered != nullptr && out.epoch != remembered->epoch()) remembered->clear();
  Walk walk(*this, fragment, max_depth, remembered, out);
  walk.run();
  if (const auto interrupted = walk.interrupted_by_signal()) {
    out.start_over(fragment.sp, methods_->settled_epoch(), blobs_->moment());
    Walk(*this, *interrupted, fragment, max_depth, remembered, out).run();
    out.start = WalkStart::kSignal;
  }
  if (innermost_call(out) == Edge::kWrong && !walk_behind_pushed(fragment, max_depth, out, remembered)) {
    out.start_over(fragment.sp, methods_->settled_epoch(), blobs_->moment());
    Walk(*this, fragment, max_depth, remembered, out).run();
  }
  if (!out.complete() && out.end != WalkEnd::kTooShort && out.end != WalkEnd::kTooDeep) return;
  for (size_t i = 0; i < out.new_frames(); ++i) {
    const WalkedFrame& frame = out.frames[i];
    if (frame.info == nullptr || frame.confirmed) continue;
    methods_->confirm(*frame.info);
    if (frame.kept != nullptr) frame.kept->confirmed = true;
  }
}

std::optional<Edge> StackWalker::innermost_call(const WalkedStack& stack) const {
  if (!call_check_ || !machine_->follows_code() || stack.start != WalkStart::kPlain) return std::nullopt;
  size_t innermost = 0;
  while (innermost < stack.new_frames() && stack.frames[innermost].kind == FrameKind::kInlined) ++innermost;
  if (innermost >= stack.new_frames() || innermost + 1 >= stack.size()) return std::nullopt;
  const WalkedFrame& callee = stack.frames[innermost];
  const WalkedFrame& caller = stack.at(innermost + 1);
  const bool compiled = callee.kind == FrameKind::kC1 || callee.kind == FrameKind::kC2;
  if (!compiled || callee.called_by_vm || callee.info == nullptr || caller.info == nullptr) return std::nullopt;
  return call_check_(callee, caller);
}

bool StackWalker::walk_behind_pushed(const Fragment& fragment, size_t max_depth, WalkedStack& out,
                                     RememberedStack* remembered) {
  constexpr Address kMost = 256;
  const auto walk_behind = [&](Address pushed) {
    pushed_ = pushed;
    out.start_over(fragment.sp, methods_->settled_epoch(), blobs_->moment());
    Walk(*this, fragment, max_depth, remembered, out).run();
    pushed_ = 0;
    const bool goes_on = out.complete() || out.end == WalkEnd::kTooShort || out.end == WalkEnd::kTooDeep;
    return goes_on ? innermost_call(out) : std::nullopt;
  };
  // A caller of which it can't be told what it calls must be the only one: behind the right one lie its own callers.
  Address doubtful = 0;
  bool several = false;
  for (Address pushed = 8; pushed <= kMost; pushed += 8) {
    const auto call = walk_behind(pushed);
    if (call == Edge::kRight) return true;
    if (call != Edge::kUncheckable) continue;
    several = doubtful != 0;
    if (!several) doubtful = pushed;
  }
  if (doubtful == 0 || several) return false;
  walk_behind(doubtful);
  return true;
}

}  // namespace tarsier::hotspot
