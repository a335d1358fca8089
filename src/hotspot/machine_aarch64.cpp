#include <algorithm>
#include <cstring>

#include "hotspot/machine.h"

namespace tarsier::hotspot {
namespace {

constexpr uint32_t kRet = 0xd65f03c0;
constexpr uint32_t kPushPair = 0xa9bf7bfd;        // stp x29, x30, [sp, #-16]!
constexpr uint32_t kPopPair = 0xa8c17bfd;         // ldp x29, x30, [sp], #16
constexpr uint32_t kSpFromFp = 0x910003bf;        // mov sp, x29
constexpr uint32_t kSpFromRegister = 0x9100001f;  // mov sp, xN

bool is_sub_sp(uint32_t w) {  // sub sp, sp, #n  or, for large frames, sub sp, sp, x8
  return (w & 0xff8003ff) == 0xd10003ff || (w & 0xffe0ffff) == 0xcb2063ff;
}
bool is_add_sp(uint32_t w) {
  return (w & 0xff8003ff) == 0x910003ff || (w & 0xffe0ffff) == 0x8b2063ff;
}
bool is_save_pair(uint32_t w) {  // stp x29, x30, [sp, #n]
  return (w & 0xffc07fff) == 0xa9007bfd;
}
bool is_call(uint32_t w) {  // bl, blr
  return (w & 0xfc000000) == 0x94000000 || (w & 0xfffffc1f) == 0xd63f0000;
}
bool is_jump(uint32_t w) {  // b, br
  return (w & 0xfc000000) == 0x14000000 || (w & 0xfffffc1f) == 0xd61f0000;
}

bool is_load_from_stack(uint32_t w) {  // ldp .., [sp, #n]: of x, d or q registers
  const uint32_t form = w & 0xffc003e0;
  return form == 0xa94003e0 || form == 0x6d4003e0 || form == 0xad4003e0;
}

// Bytes from a branch that depends on something to where it leads; 0: it is none.
int64_t branches_by(uint32_t w) {
  const bool is_19 = (w & 0xff000010) == 0x54000000 || (w & 0x7e000000) == 0x34000000;  // b.cond, cbz, cbnz
  if (is_19) return static_cast<int64_t>(static_cast<int32_t>(w << 8) >> 13) * 4;
  const bool is_14 = (w & 0x7e000000) == 0x36000000;  // tbz, tbnz
  return is_14 ? static_cast<int64_t>(static_cast<int32_t>(w << 13) >> 18) * 4 : 0;
}

uint32_t word_at(std::span<const uint8_t> code, size_t offset) {
  uint32_t w = 0;
  std::memcpy(&w, code.data() + offset, sizeof(w));
  return w;
}
// Bytes by which an instruction raises sp; negative if it lowers it, 0 if it leaves it alone.
int64_t raises_sp(uint32_t w) {
  const int64_t immediate = (w >> 10) & 0xfff;
  if ((w & 0xffc003ff) == 0xd10003ff) return -immediate;  // sub sp, sp, #n
  if ((w & 0xffc003ff) == 0x910003ff) return immediate;
  // Pairs: of x, d or q registers, stored with write-back before or loaded with write-back after.
  const int64_t scaled = static_cast<int32_t>(w << 10) >> 25;
  const uint32_t form = w & 0xffc003e0;
  if (form == 0xa98003e0 || form == 0xa8c003e0 || form == 0x6d8003e0 || form == 0x6cc003e0) return 8 * scaled;
  if (form == 0xad8003e0 || form == 0xacc003e0) return 16 * scaled;
  // Single registers: str x, [sp, #n]!  and  ldr x, [sp], #n
  const int64_t offset = static_cast<int32_t>(w << 11) >> 23;
  if ((w & 0xffe00fe0) == 0xf8000fe0 || (w & 0xffe00fe0) == 0xf84007e0) return offset;
  return 0;
}

class Aarch64 final : public Machine {
 public:
  [[nodiscard]] std::string_view name() const override { return "aarch64"; }
  [[nodiscard]] InterpreterSlots slots_with_mirror() const override { return {-1, -3, -8, -9}; }
  [[nodiscard]] int call_wrapper_offset() const override { return -8 * 8; }

  [[nodiscard]] FrameState frame_state(const CodeBlob& blob, Address pc, std::span<const uint8_t> code,
                                       size_t at) const override {
    const auto word = [&](ptrdiff_t index) -> uint32_t {
      const ptrdiff_t offset = static_cast<ptrdiff_t>(at) + 4 * index;
      uint32_t w = 0;
      if (offset >= 0 && static_cast<size_t>(offset) + 4 <= code.size()) {
        std::memcpy(&w, code.data() + offset, sizeof(w));
      }
      return w;
    };
    if (blob.frame_complete <= 0 || pc < blob.code_begin + static_cast<Address>(blob.frame_complete)) {
      return prologue_state(blob, pc, word);
    }
    return epilogue_state(word);
  }

  [[nodiscard]] std::optional<int64_t> pushed_by_stub(std::span<const uint8_t> code, bool several) const override {
    int64_t pushed = 0;
    bool saved = false;
    for (size_t i = 0; i + 4 <= code.size(); i += 4) {
      const uint32_t w = word_at(code, i);
      pushed -= raises_sp(w);
      saved |= w == kPushPair;
      if (w != kRet && !(several && is_jump(w))) continue;
      pushed = 0;  // what follows is another way through the stub
      saved = false;
    }
    if (pushed < 0 || saved) return std::nullopt;
    return pushed;
  }
  [[nodiscard]] bool follows_code() const override { return false; }
  [[nodiscard]] std::optional<WayOut> way_out(std::span<const uint8_t>, const Followed&) const override {
    return std::nullopt;
  }
  [[nodiscard]] bool is_call_stub(std::span<const uint8_t>, size_t) const override { return false; }
  [[nodiscard]] Address thrown_at(const Fragment&) const override { return 0; }
  [[nodiscard]] int64_t popped_after_call(std::span<const uint8_t> code) const override {
    constexpr size_t kMostBefore = 2;  // instructions that see to the result
    int64_t popped = 0;
    size_t before = 0;
    for (size_t i = 0; i + 4 <= code.size(); i += 4) {
      const uint32_t w = word_at(code, i);
      if (is_load_from_stack(w)) continue;
      // Raising sp alone is what an epilogue does; around calls only a pair of words is dropped like that.
      const bool adds = is_add_sp(w) && raises_sp(w) != 16;
      if (is_jump(w) || is_call(w) || w == kRet || adds || (popped == 0 && before++ > kMostBefore)) break;
      popped += raises_sp(w);
    }
    return std::max<int64_t>(popped, 0);
  }
  [[nodiscard]] Address stack_alignment() const override { return 16; }
  [[nodiscard]] std::optional<CallAhead> call_ahead(std::span<const uint8_t> code, Address) const override {
    int64_t raised = 0;
    for (size_t i = 0; i + 4 <= code.size(); i += 4) {
      const uint32_t w = word_at(code, i);
      if (is_call(w)) return CallAhead{i + 4, raised};
      // Also where sp is set to anything else.
      if (is_jump(w) || w == kRet || (w & 0xfffffc1f) == kSpFromRegister) return std::nullopt;
      raised += raises_sp(w);
    }
    return std::nullopt;
  }
  [[nodiscard]] std::optional<int64_t> next_jump(std::span<const uint8_t> code) const override {
    for (size_t i = 0; i + 4 <= code.size(); i += 4) {
      const uint32_t w = word_at(code, i);
      if (w == kRet || (w & 0xfffffc1f) == 0xd61f0000) return std::nullopt;  // br
      if ((w & 0xfc000000) != 0x14000000) continue;
      return static_cast<int64_t>(i) + (static_cast<int64_t>(static_cast<int32_t>(w << 6) >> 6) * 4);
    }
    return std::nullopt;
  }
  [[nodiscard]] size_t reached_from(std::span<const uint8_t> code, size_t return_address) const override {
    size_t begin = return_address >= 4 ? (return_address - 4) / 4 * 4 : 0;
    while (begin >= 4 && begin <= code.size()) {
      const uint32_t w = word_at(code, begin - 4);
      if (is_jump(w) || is_call(w) || w == kRet) break;
      begin -= 4;
    }
    for (size_t i = 0; i + 4 <= code.size(); i += 4) {
      const int64_t by = branches_by(word_at(code, i));
      if (by != 0 && static_cast<int64_t>(i) + by == static_cast<int64_t>(begin)) return i;
    }
    return begin;
  }
  [[nodiscard]] std::optional<Address> call_target(const Memory& memory, Address return_address) const override {
    const Address call = return_address - 4;
    const uint32_t w = memory.read<uint32_t>(call).value_or(0);
    if ((w & 0xfc000000) != 0x94000000) return std::nullopt;  // bl
    const Address target = call + static_cast<Address>(static_cast<int64_t>(static_cast<int32_t>(w << 6) >> 6) * 4);
    constexpr uint32_t kLoadLiteral = 0x58000048;  // ldr x8, #8; br x8; .quad
    if (memory.read<uint32_t>(target) != kLoadLiteral) return target;
    return memory.read<Address>(target + 8);
  }
  [[nodiscard]] std::optional<int64_t> passed_slot(std::span<const uint8_t> code) const override {
    for (size_t i = code.size() / 4 * 4 - std::min<size_t>(code.size() / 4 * 4, 4); i >= 4; i -= 4) {
      const uint32_t w = word_at(code, i - 4);
      // add xN, sp, #n; as an argument, or, for stubs of the first compiler, put there by str xN, [sp]
      const bool is_argument = (w & 31) == 1 || (w & 31) == 2;
      const bool is_stored = i + 4 <= code.size() && word_at(code, i) == (0xf90003e0 | (w & 31));
      if ((w & 0xffc003e0) == 0x910003e0 && (is_argument || is_stored)) return (w >> 10) & 0xfff;
      if (is_jump(w) || is_call(w) || w == kRet) break;
    }
    return std::nullopt;
  }
  // mov x8, SYS_rt_sigreturn; svc 0
  [[nodiscard]] bool returns_from_signal(std::span<const uint8_t> code, size_t at) const override {
    constexpr uint32_t kMove = 0xd2801168, kCall = 0xd4000001;
    for (const size_t place : {size_t{0}, size_t{4}, size_t{8}}) {
      if (at < place || code.size() - (at - place) < 8) continue;
      if (word_at(code, at - place) == kMove && word_at(code, at - place + 4) == kCall) return true;
    }
    return false;
  }
  // siginfo, then ucontext: flags, link, the other stack, 128 bytes for signals, and, aligned to 16, the address of a
  // fault, x0 to x30, sp, pc.
  [[nodiscard]] SignalFrame signal_frame() const override {
    constexpr uint16_t kFirst = 128 + 176 + 8, kFp = 29;
    SignalFrame frame{{}, kFirst + 8 * (kGeneralRegisters + 1), kFirst + 8 * kGeneralRegisters, kFirst + 8 * kFp};
    for (size_t i = 0; i < frame.general.size(); ++i) frame.general[i] = static_cast<uint16_t>(kFirst + 8 * i);
    return frame;
  }
  [[nodiscard]] std::optional<ThawCall> thaw_call(std::span<const uint8_t> code) const override {
    // The call's second argument is 0, or why it returns: movz w1, #n, and orr w1, wzr, #n, which can't be 0.
    constexpr uint32_t kMovz = 0x52800001, kOrr = 0x320003e1;
    constexpr int64_t kAroundCall = 16, kResult = 16;
    constexpr size_t kNear = 48;
    for (size_t i = code.size() / 4 * 4; i >= 4 && code.size() - i < kNear; i -= 4) {
      const uint32_t w = word_at(code, i - 4);
      const bool moves = (w & 0xff80001f) == kMovz, sets_bits = (w & 0xff8003ff) == kOrr;
      if (!moves && !sets_bits) continue;
      const bool is_return = sets_bits || ((w >> 5) & 0xffff) != 0;
      return ThawCall{is_return, kAroundCall + (is_return ? kResult : 0)};
    }
    return std::nullopt;
  }
  [[nodiscard]] std::optional<uint64_t> field_put_into_sp(std::span<const uint8_t> code) const override {
    // ldr xN, [x28, #n]; mov sp, xN
    std::optional<uint64_t> found;
    for (size_t i = 4; i + 4 <= code.size(); i += 4) {
      const uint32_t load = word_at(code, i - 4), move = word_at(code, i);
      if ((move & 0xfffffc1f) != kSpFromRegister || (load & 0xffc003e0) != 0xf9400380) continue;
      if ((load & 31) != ((move >> 5) & 31)) continue;
      const uint64_t offset = ((load >> 10) & 0xfff) * 8;
      if (found && *found != offset) return std::nullopt;
      found = offset;
    }
    return found;
  }
  [[nodiscard]] Address bytes_to_thaw_call() const override { return 32; }
  [[nodiscard]] bool just_saved_pair(std::span<const uint8_t> code, size_t at) const override {
    constexpr uint32_t kSetFp = 0x910003fd;  // mov x29, sp
    return at >= 4 && at + 4 <= code.size() && word_at(code, at - 4) == kPushPair && word_at(code, at) == kSetFp;
  }

  [[nodiscard]] bool jumps_on(std::span<const uint8_t> code) const override {
    // bti c; adrp x16, ..; ldr x17, [x16, ..]; add x16, x16, ..; br x17 or br x16
    constexpr size_t kMost = 5;
    for (size_t i = 0; i + 4 <= std::min(code.size(), kMost * 4); i += 4) {
      const uint32_t w = word_at(code, i);
      if (w == 0xd61f0220 || w == 0xd61f0200) return true;
      const bool addresses = (w & 0x9f00001f) == 0x90000010 || (w & 0xffc003ff) == 0xf9400211 ||
                             (w & 0xffc003ff) == 0x91000210 || w == 0xd503245f;
      if (!addresses) return false;
    }
    return false;
  }
  [[nodiscard]] std::optional<int64_t> frame_with_record(std::span<const uint8_t> code) const override {
    for (size_t i = code.size() / 4 * 4; i >= 4; i -= 4) {
      const uint32_t w = word_at(code, i - 4);
      if ((w & 0xffc07fff) == 0xa9807bfd && raises_sp(w) < 0) return -raises_sp(w);  // stp x29, x30, [sp, #-n]!
    }
    return std::nullopt;
  }

  [[nodiscard]] bool follows_call(std::span<const uint8_t, 8> before) const override {
    uint32_t w = 0;
    std::memcpy(&w, before.data() + 4, sizeof(w));
    return is_call(w);
  }

  [[nodiscard]] Position unsaved_return(const Fragment& fragment, uint64_t) const override {
    return {fragment.general[30], fragment.sp, fragment.fp};
  }
  [[nodiscard]] Address popped_return(const Fragment&) const override { return 0; }
  [[nodiscard]] Address entry_method(const Fragment& fragment) const override { return fragment.general[12]; }
  [[nodiscard]] Address bytecode_pointer(const Fragment& fragment) const override { return fragment.general[22]; }
  [[nodiscard]] Address sender_sp(const Fragment& fragment, int major) const override {
    constexpr int kFirstWithX19 = 20;
    return major >= kFirstWithX19 ? fragment.general[19] : fragment.general[13];
  }

 private:
  // Small frames: sub sp; stp. Large ones: stp with write-back; sub sp.
  template <class Word>
  [[nodiscard]] static FrameState prologue_state(const CodeBlob& blob, Address pc, const Word& word) {
    if (blob.entry == 0 || pc <= blob.entry) return FrameState::kNothing;
    const auto since_entry = static_cast<ptrdiff_t>((pc - blob.entry) / 4);
    bool lowered = false, saved = false, pushed = false;
    for (ptrdiff_t i = -std::min<ptrdiff_t>(since_entry, 32); i < 0; ++i) {
      lowered |= is_sub_sp(word(i));
      saved |= is_save_pair(word(i));
      pushed |= word(i) == kPushPair;
    }
    if (lowered && (saved || pushed)) return FrameState::kComplete;
    if (pushed) return FrameState::kSavedPair;
    return lowered ? FrameState::kAllocated : FrameState::kNothing;
  }

  // Small frames: ldp; add sp; poll; ret. Large ones: add sp; ldp with write-back; poll; ret. Wrappers of native
  // methods: mov sp, x29; ldp with write-back; is an exception pending?; ret.
  template <class Word>
  [[nodiscard]] static FrameState epilogue_state(const Word& word) {
    constexpr ptrdiff_t kLongest = 7;
    if (word(0) == kRet) return FrameState::kNothing;
    if (word(0) == kPopPair && (is_add_sp(word(-1)) || word(-1) == kSpFromFp)) return FrameState::kSavedPair;
    bool returns = false;
    for (ptrdiff_t i = 0; i < kLongest && !returns; ++i) {
      const uint32_t w = word(i);
      if (w == kPopPair || is_add_sp(w) || is_call(w) || is_jump(w)) return FrameState::kComplete;
      returns = w == kRet;
    }
    for (ptrdiff_t i = -1; returns && i >= -kLongest; --i) {
      const uint32_t w = word(i);
      if (w == kPopPair || is_add_sp(w)) return FrameState::kNothing;
      if (w == kRet || is_call(w) || is_jump(w)) break;
    }
    return FrameState::kComplete;
  }
};

}  // namespace

const Machine& Machine::aarch64() {
  static const Aarch64 machine;
  return machine;
}

}  // namespace tarsier::hotspot
