// A virtual thread that was interrupted while the JVM moves its innermost frames from the heap to the stack. The JVM
// first makes room on the stack for all frames of a chunk, then says that some have left it (its sp is raised), then
// copies those; in the heap their words stay as they are. So the room tells where the frames began, whether or not the
// chunk's sp is raised yet.
#include <array>

#include "hotspot/walk.h"

namespace tarsier::hotspot {

void StackWalker::Walk::measure_thaw() {
  constexpr Address kBefore = 64, kMostAhead = 96;
  const Address ahead_bytes = w_.machine_->bytes_to_thaw_call();
  std::array<uint8_t, kMostAhead> code{};
  Address pc = at_.pc, sp = at_.sp;
  const CodeBlob* interrupted = w_.blobs_->at(f_.pc);
  if (interrupted != nullptr && interrupted->kind == BlobKind::kContinuationStubs) {
    // In the stub itself. After the call nothing is known.
    if (!w_.memory_->copy(code.data(), f_.pc, ahead_bytes)) return;
    const auto ahead = w_.machine_->call_ahead(std::span(code).first(ahead_bytes), f_.sp);
    if (!ahead) return;
    pc = f_.pc + ahead->size;
    sp = f_.sp + static_cast<Address>(ahead->raised);
  }
  if (f_.continuation <= sp || !w_.memory_->copy(code.data(), pc - kBefore, kBefore)) return;
  const auto call = w_.machine_->thaw_call(std::span(code).first(kBefore));
  if (!call) return;
  constexpr int64_t kMore = 4;  // words: link and pc of the innermost, and one at each end to align it
  thaw_words_ = (static_cast<int64_t>(f_.continuation - sp) - call->pushed) / 8 - kMore;
  thaw_is_return_ = call->is_return;
}

bool StackWalker::Walk::go_to_thawed() {
  const CodeBlob* interrupted = w_.blobs_->at(f_.pc);
  if (interrupted == nullptr || interrupted->kind != BlobKind::kContinuationStubs) return false;
  constexpr Address kBefore = 64, kMostAhead = 96;
  std::array<uint8_t, kBefore + kMostAhead> code{};
  const auto around = std::span<const uint8_t>(code).first(kBefore + w_.machine_->bytes_to_thaw_call());
  if (!w_.memory_->copy(code.data(), f_.pc - kBefore, around.size())) return false;
  if (!w_.machine_->thaw_call(around.first(kBefore)) || w_.machine_->call_ahead(around.subspan(kBefore), f_.sp))
    return false;
  // Their first two words are what the stub returns by; below lie what it has saved, and what aligns the room.
  constexpr Address kMostBelow = 64;
  for (Address sp = f_.sp + 16; sp <= f_.sp + kMostBelow && holds(sp - 16); sp += 16) {
    if (!plausible({peek(sp - 8), sp, peek(sp - 16)}, true)) continue;
    // The frame that threads wait in is never moved; one that is found here has been left there before.
    const CodeBlob* blob = w_.blobs_->at(peek(sp - 8));
    if (blob == nullptr || blob->kind == BlobKind::kContinuationStubs) continue;
    if (blob->kind == BlobKind::kNativeWrapper && is_yield(w_.methods_->at(blob->method))) continue;
    from_leaf_ = false;
    return go_to({word(sp - 8), sp, word(sp - 16)});
  }
  return false;
}

std::optional<Address> StackWalker::Walk::find_thawing(Address sp) const {
  if (thaw_words_ <= 0 || piece_is_cut_) return std::nullopt;
  std::optional<Address> found;
  const auto most = static_cast<Address>(thaw_words_) * 8;
  for (Address from = sp; from >= piece_.begin + 16 && piece_.end() - from <= most; from -= 8) {
    const bool possible = from == sp ? from < piece_.end() : leads_to(from, sp);
    if (!possible || !fits_room(from) || (!thaw_is_return_ && !is_yielding(from))) continue;
    if (found) return std::nullopt;
    found = from;
  }
  return found;
}

StackWalker::Walk::FrozenFrame StackWalker::Walk::innermost_frozen(Address sp) const {
  const CodeBlob* blob = w_.blobs_->at(peek(sp - 8));
  if (blob == nullptr || blob->kind != BlobKind::kInterpreter) return {sp, sp};
  constexpr int kLastSp = -2;  // on both processors
  const Address fp = distant(sp - 16, peek(sp - 16)), last_sp = slot(fp, kLastSp);
  const Address start = holds(last_sp) ? distant(fp, peek(last_sp)) : 0;
  return {sp, start >= sp - 16 && start <= fp ? start : sp};
}

StackWalker::Walk::FrozenKind StackWalker::Walk::leave_frozen(FrozenFrame& frame) const {
  const Address pc = peek(frame.sp - 8);
  const CodeBlob* blob = pc == 0 ? nullptr : w_.blobs_->at(pc);
  if (blob == nullptr) return FrozenKind::kNone;
  Address sp = 0, start = 0, arguments_end = 0;
  const bool interpreted = blob->kind == BlobKind::kInterpreter;
  if (interpreted) {
    const auto slots = w_.machine_->interpreter_slots(w_.major_);
    const Address fp = distant(frame.sp - 16, peek(frame.sp - 16));
    if (fp < frame.sp || !holds(fp) || !holds(slot(fp, slots.bcp)) ||
        w_.methods_->at(peek(slot(fp, slots.method))) == nullptr)
      return FrozenKind::kNone;
    sp = fp + 16;
    start = distant(fp, peek(slot(fp, slots.sender_sp)));
    arguments_end = distant(fp, peek(slot(fp, slots.locals)));
  } else {
    if (blob->frame_bytes <= 0 || !may_return_to(pc, true)) return FrozenKind::kNone;
    sp = start = arguments_end = frame.start + static_cast<Address>(blob->frame_bytes);
  }
  if (sp <= frame.sp || start <= frame.start || start > piece_.end()) return FrozenKind::kNone;
  // The outermost frame of a chunk ends with it.
  frame = arguments_end + 8 >= piece_.end() ? FrozenFrame{piece_.end(), piece_.end()} : FrozenFrame{sp, start};
  return interpreted ? FrozenKind::kInterpreted : FrozenKind::kCompiled;
}

bool StackWalker::Walk::leads_to(Address from, Address to) const {
  FrozenFrame frame = innermost_frozen(from);
  while (frame.sp < to) {
    if (leave_frozen(frame) == FrozenKind::kNone) return false;
  }
  return frame.sp == to;
}

bool StackWalker::Walk::fits_room(Address sp) const {
  FrozenFrame frame = innermost_frozen(sp);
  auto words = static_cast<int64_t>(piece_.end() - frame.start) / 8;
  bool any_interpreted = false;
  FrozenKind callee = FrozenKind::kNone;
  while (frame.sp < piece_.end()) {
    const FrozenKind kind = leave_frozen(frame);
    if (kind == FrozenKind::kNone) return false;
    // Interpreted frames may have to be aligned, and compiled ones that they call.
    if (kind == FrozenKind::kInterpreted) words += callee == FrozenKind::kCompiled ? 2 : 1;
    any_interpreted |= kind == FrozenKind::kInterpreted;
    callee = kind;
  }
  // Room is never less than needed. It is aligned, and some words are added where frames of both kinds meet.
  const int64_t most_to_spare = any_interpreted ? 5 : 1;
  return words <= thaw_words_ && thaw_words_ - words <= most_to_spare;
}

bool StackWalker::Walk::is_yielding(Address sp) const {
  const Address pc = peek(sp - 8);
  const CodeBlob* blob = w_.blobs_->at(pc);
  if (blob == nullptr) return false;
  Address at = blob->method;
  Scope scope;
  const PcDesc* desc = blob->at(pc);
  if (desc != nullptr && desc->scope_offset > 0 &&
      read_scope(blob->scopes, static_cast<uint32_t>(desc->scope_offset), w_.blobs_->excluded_byte(), scope) &&
      scope.method_index > 0 && scope.method_index <= blob->metadata.size()) {
    at = blob->metadata[scope.method_index - 1];  // the innermost that is inlined
  }
  if (blob->kind == BlobKind::kInterpreter) {
    const Address fp = distant(sp - 16, peek(sp - 16));
    at = peek(slot(fp, w_.machine_->interpreter_slots(w_.major_).method));
  }
  const MethodInfo* method = at == 0 ? nullptr : w_.methods_->at(at);
  // Its class has other methods, too: those that a virtual thread begins with.
  return method != nullptr && method->class_name == "jdk/internal/vm/Continuation" && method->name.starts_with("yield");
}

}  // namespace tarsier::hotspot
