#include "hotspot/light_walk.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>

namespace tarsier::hotspot {
namespace {

constexpr Address kAddressBits = (Address{1} << 48) - 1;  // above: the signature of a signed return address
constexpr uint32_t kMostFrames = 4096;
constexpr int32_t kLargestFrame = 1 << 20;

Address word(Address address) {
  return *reinterpret_cast<const volatile Address*>(address);
}

uint64_t mixed(uint64_t key, uint64_t value) {
  key = (key ^ value) * 0x9e3779b97f4a7c15ULL;
  return key ^ key >> 29;
}

}  // namespace

bool LightWalk::Direct::copy(void* out, Address from, size_t size) const noexcept {
  std::memcpy(out, reinterpret_cast<const void*>(from), size);
  return true;
}

Result<std::unique_ptr<LightWalk>> LightWalk::find(const VmStructs& structs, const NativeFrames& native, int major) {
  std::unique_ptr<LightWalk> walk(new LightWalk(native, major));
  if (Status status = walk->find_layout(structs); !status) return std::move(status).error();
  return walk;
}

Status LightWalk::find_layout(const VmStructs& structs) {
  auto cache = CodeCache::find(memory_, structs);
  if (!cache) return std::move(cache).error();
  cache_.emplace(std::move(*cache));
  slots_ = Machine::host().interpreter_slots(major_);
  const auto frame_size = structs.offset("CodeBlob", "_frame_size");
  const auto compile_id = structs.offset("nmethod", "_compile_id");
  const auto call_stub = structs.address("StubRoutines", "_call_stub_return_address");
  const auto anchor = structs.offset("JavaCallWrapper", "_anchor");
  const auto sp = structs.offset("JavaFrameAnchor", "_last_Java_sp");
  const auto pc = structs.offset("JavaFrameAnchor", "_last_Java_pc");
  const auto fp = structs.offset("JavaFrameAnchor", "_last_Java_fp");
  if (!frame_size || !compile_id || !call_stub || !anchor || !sp || !pc || !fp) {
    return Error{Errc::kUnsupported, "this JVM's vmStructs do not tell how its frames lie"};
  }
  frame_size_ = *frame_size;
  compile_id_ = *compile_id;
  call_stub_return_ = memory_.read<Address>(*call_stub).value_or(0);
  wrapper_anchor_ = *anchor;
  anchor_sp_ = *sp;
  anchor_pc_ = *pc;
  anchor_fp_ = *fp;
  return {};
}

LightWalk::Piece LightWalk::native_piece(Address pc) const noexcept {
  // A return address may be the first one behind a function that does not return.
  const auto rule = native_.rule_at(pc - 1);
  if (!rule || rule->outermost || !rule->ra_saved) return {pc};
  Piece piece{pc, Kind::kNative, false};
  piece.rule = *rule;
  return piece;
}

LightWalk::Piece LightWalk::look_at(Address pc) const noexcept {
  if (pc == call_stub_return_) return {pc, Kind::kEntry, true};
  if (is_interpreter(pc)) return {pc, Kind::kInterpreted, true};
  const auto blob = cache_->blob_at(pc);
  if (!blob) return native_piece(pc);
  const Piece unknown{pc, Kind::kUnknown, true};
  if (*blob == 0) return unknown;
  const Code code = cache_->code_at(pc);
  Piece piece{pc, Kind::kFrame, true};
  piece.frame_bytes = memory_.read<int32_t>(*blob + frame_size_).value_or(0) * static_cast<int32_t>(sizeof(Address));
  if (code.kind == CodeKind::kStub) {
    if (cache_->stub_name(pc).find("continuation") != std::string::npos) return {pc, Kind::kFrozen, true};
  } else {
    piece.identity = *blob + compile_id_;
    piece.compile_id = code.compile_id;
  }
  if (piece.frame_bytes <= 0 || piece.frame_bytes > kLargestFrame) return unknown;
  const auto around = std::span(reinterpret_cast<const uint8_t*>(pc), 64);
  piece.popped = static_cast<int32_t>(Machine::host().popped_after_call(around));
  return piece;
}

const LightWalk::Piece* LightWalk::at(Address pc) noexcept {
  auto& slot = known_[(pc * 0x9e3779b97f4a7c15ULL) >> (64 - kLog2Known)];
  const Piece* known = slot.load(std::memory_order_acquire);
  if (known != nullptr && known->pc == pc && is_still(*known)) return known;
  // What is replaced in the table may still be read by others: it is not used again. When all are used up, the walk
  // gives up, and the chain is decoded each time.
  const uint32_t index = used_.load(std::memory_order_relaxed) < kMaxPieces
                             ? used_.fetch_add(1, std::memory_order_relaxed)
                             : static_cast<uint32_t>(kMaxPieces);
  if (index >= kMaxPieces) return nullptr;
  pieces_[index] = look_at(pc);
  slot.store(&pieces_[index], std::memory_order_release);
  return &pieces_[index];
}

bool LightWalk::holds(const Trail& trail, const Place& place) const noexcept {
  if (trail.steps == 0) return false;
  Place same = place;
  if (!trail.needs_fp) same.at.fp = trail.from.at.fp;
  if (!(same == trail.from)) return false;
  // The frames lie between where the thread is, which is the same as then, and the base of its stack.
  for (uint32_t i = 0; i + 1 < trail.steps; ++i) {
    const Trail::Step& step = trail.met[i];
    const bool same_caller = (word(step.returns_at) & kAddressBits) == trail.met[i + 1].piece->pc &&
                             (step.saved_at == 0 || word(step.saved_at) == step.saved);
    if (!same_caller || !is_still(*step.piece)) return false;
  }
  for (uint32_t i = 0; i < trail.interpreted; ++i) {
    const Trail::Interpreted& frame = trail.by_interpreter[i];
    const auto slot = [&](int index) { return word(frame.fp + static_cast<Address>(int64_t{8} * index)); };
    if (slot(slots_.method) != frame.method || slot(slots_.bcp) != frame.bcp) return false;
    if (slot(slots_.sender_sp) != frame.sender) return false;
  }
  return word(trail.entry_slot) == trail.wrapper && word(trail.wrapper + wrapper_anchor_ + anchor_sp_) == 0;
}

LightWalk::Trail* LightWalk::known(const Place& place, Trails& trails) const noexcept {
  for (size_t i = 0; i < Trails::kMost; ++i) {
    const bool may_be = trails.sp[i] == place.at.sp && trails.pc[i] == place.at.pc;
    if (may_be && holds(trails.trails[i], place)) return &trails.trails[i];
  }
  return nullptr;
}

LightWalk::Kept LightWalk::walk_and_keep(const Place& place, Trails& trails) noexcept {
  Trail& trail = trails.trails[trails.next];
  trail.steps = 0;
  trail.user = 0;
  trail.from = place;
  trails.sp[trails.next] = place.at.sp;
  trails.pc[trails.next] = place.at.pc;
  const Chain chain = walk(place, &trail);
  if (trail.steps == 0) return {chain, nullptr};
  trail.chain = chain;
  trails.next = (trails.next + 1) % Trails::kMost;
  return {chain, &trail};
}

LightWalk::Chain LightWalk::walk(const Place& place, Trail* trail) noexcept {
  Position at = place.at;
  Chain chain;
  uint64_t key = mixed(1, place.salt);
  const auto inside = [&](Address address) {
    return address >= at.sp && address <= place.stack_base - sizeof(Address) && address % sizeof(Address) == 0;
  };
  const auto slot = [&](int index) { return at.fp + static_cast<Address>(int64_t{8} * index); };
  bool from_native = place.is_call;
  uint32_t met = 0, interpreted = 0;  // frames, and those of the interpreter among them
  const auto keep = [&](const Trail::Step& step) {
    if (trail != nullptr && met < Trail::kMost) trail->met[met] = step;
    ++met;
  };
  for (chain.frames = 0; chain.frames < kMostFrames; ++chain.frames) {
    const Piece* piece = this->at(at.pc);
    if (piece == nullptr) return chain;
    if (place.continuation != 0 && at.sp >= place.continuation) {
      // Where the others come back to their caller, the frames that are not here yet come out of the heap.
      chain.key = key;
      chain.ends_in_heap = piece->kind == Kind::kFrozen;
      return chain;
    }
    if (trail != nullptr && met <= Trail::kMost) {
      const bool needs_fp = piece->kind != Kind::kFrame;
      if (met == 0) trail->needs_fp = needs_fp;
      if (met > 0 && !needs_fp) trail->met[met - 1].saved_at = 0;
    }
    Position caller;
    switch (piece->kind) {
      case Kind::kNative: {
        const UnwindRule& rule = piece->rule;
        const Address cfa = (rule.by_fp ? at.fp : at.sp) + static_cast<Address>(rule.cfa_offset);
        const Address ra = cfa + static_cast<Address>(rule.ra_offset), fp = cfa + static_cast<Address>(rule.fp_offset);
        if (cfa <= at.sp || !inside(ra) || (rule.fp_saved && !inside(fp))) return chain;
        caller = {word(ra) & kAddressBits, cfa, rule.fp_saved ? word(fp) : at.fp};
        keep({piece, ra, rule.fp_saved ? fp : 0, caller.fp});
        from_native = true;
        at = caller;
        continue;
      }
      case Kind::kFrame: {
        const Address end =
            at.sp + static_cast<Address>(piece->frame_bytes) + (from_native ? static_cast<Address>(piece->popped) : 0);
        if (!inside(end - 16) || !inside(end - 8)) return chain;
        key = mixed(mixed(key, at.pc), static_cast<uint64_t>(piece->compile_id));
        caller = {word(end - 8) & kAddressBits, end, word(end - 16)};
        keep({piece, end - 8, end - 16, caller.fp});
        break;
      }
      case Kind::kInterpreted: {
        if (!inside(slot(slots_.bcp)) || !inside(slot(1))) return chain;
        key = mixed(mixed(mixed(key, word(slot(slots_.method))), word(slot(slots_.bcp))), place.epoch);
        const Address sender = word(slot(slots_.sender_sp));
        caller = {word(slot(1)) & kAddressBits, sender > at.fp && inside(sender) ? sender : at.fp + 16, word(at.fp)};
        if (trail != nullptr && interpreted < Trail::kMostInterpreted) {
          trail->by_interpreter[interpreted] = {at.fp, word(slot(slots_.method)), word(slot(slots_.bcp)), sender};
        }
        ++interpreted;
        keep({piece, slot(1), at.fp, caller.fp});
        break;
      }
      case Kind::kEntry: {
        const Address wrapper =
            at.fp + static_cast<Address>(static_cast<int64_t>(Machine::host().call_wrapper_offset()));
        if (!inside(wrapper)) return chain;
        const Address anchor = word(wrapper) + wrapper_anchor_;
        if (!inside(anchor) || !inside(anchor + 16)) return chain;
        caller = {word(anchor + anchor_pc_), word(anchor + anchor_sp_), word(anchor + anchor_fp_)};
        if (caller.sp == 0) {
          chain.key = key;
          // Nothing was met on the way but what is kept.
          const bool is_kept = met == chain.frames && met < Trail::kMost && interpreted <= Trail::kMostInterpreted;
          if (trail != nullptr && is_kept) {
            trail->interpreted = interpreted;
            trail->met[met] = {piece, 0, 0, 0};
            trail->steps = met + 1;
            trail->entry_slot = wrapper;
            trail->wrapper = word(wrapper);
          }
          return chain;
        }
        key = mixed(key, 2);
        if (!inside(caller.sp)) return chain;
        if (caller.pc == 0) caller.pc = word(caller.sp - 8);
        break;
      }
      case Kind::kFrozen:
        chain.key = key;
        chain.ends_in_heap = true;
        return chain;
      case Kind::kUnknown:
        return chain;
    }
    if (caller.sp <= at.sp) return chain;
    from_native = false;
    at = caller;
  }
  return chain;
}

}  // namespace tarsier::hotspot
