#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/x86_instruction.h"
#include "hotspot/machine.h"
#include "hotspot/x86_follower.h"

namespace tarsier::hotspot {
namespace {

enum Register { kRax = 0, kRbx = 1, kRdx = 3, kR13 = 13 };  // places in Fragment::general

constexpr uint8_t kPushRbp = 0x55, kPopRbp = 0x5d, kNearReturn = 0xc3, kLeave = 0xc9;

// sub/add rsp, imm8 or imm32: 48 83|81 ec|c4 ..; its length, 0 if it is none.
size_t moves_sp(std::span<const uint8_t> code, uint8_t operation) {
  if (code.size() < 7 || code[0] != 0x48 || code[2] != operation) return 0;
  if (code[1] == 0x83) return 4;
  return code[1] == 0x81 ? 7 : 0;
}

class X8664 final : public Machine {
 public:
  [[nodiscard]] std::string_view name() const override { return "x86_64"; }
  [[nodiscard]] InterpreterSlots slots_with_mirror() const override { return {-1, -3, -7, -8}; }
  [[nodiscard]] int call_wrapper_offset() const override { return -6 * 8; }

  [[nodiscard]] FrameState frame_state(const CodeBlob& blob, Address pc, std::span<const uint8_t> code,
                                       size_t at) const override {
    if (blob.frame_complete <= 0 || pc < blob.code_begin + static_cast<Address>(blob.frame_complete)) {
      return prologue_state(blob, pc, code, at);
    }
    if (blob.kind == BlobKind::kNativeWrapper && has_polled_behind_leave(code, at)) return FrameState::kNothing;
    return epilogue_state(code, at);
  }

  // Instructions differ in length, so they can't be read from just anywhere; other ways must do.
  [[nodiscard]] std::optional<int64_t> pushed_by_stub(std::span<const uint8_t>, bool) const override {
    return std::nullopt;
  }
  [[nodiscard]] std::optional<int64_t> next_jump(std::span<const uint8_t> code) const override {
    for (size_t at = 0; at < code.size();) {
      const auto instruction = x86::decode(code.subspan(at));
      if (!instruction) break;
      at += instruction->length;
      if (!instruction->always_branches) continue;
      if (instruction->distance_at == 0 && !instruction->short_branch) break;
      return static_cast<int64_t>(at) + instruction->value;
    }
    return std::nullopt;
  }
  // Code can't be read backwards here: it begins where it could, if that is where a branch leads.
  [[nodiscard]] size_t reached_from(std::span<const uint8_t> code, size_t return_address) const override {
    constexpr size_t kFarthest = 64, kShortJump = 2, kJump = 5;
    const size_t end = std::min(return_address, code.size());
    for (size_t begin = end; begin-- > end - std::min(end, kFarthest);) {
      const bool out_of_line =
          (begin >= kJump && code[begin - kJump] == 0xe9) || (begin >= kShortJump && code[begin - kShortJump] == 0xeb);
      if (!out_of_line || !runs_on_to(code.first(end), begin)) continue;
      if (const auto branch = branch_to(code, begin)) return *branch;
    }
    return end;
  }
  [[nodiscard]] std::optional<Address> call_target(const Memory& memory, Address return_address) const override {
    constexpr Address kCall = 5;
    if (memory.read<uint8_t>(return_address - kCall) != 0xe8) return std::nullopt;
    const auto distance = memory.read<int32_t>(return_address - 4);
    if (!distance) return std::nullopt;
    return return_address + static_cast<Address>(int64_t{*distance});
  }
  // lea rdx or rsi, [rsp + n], from which the code runs on to the call
  [[nodiscard]] std::optional<int64_t> passed_slot(std::span<const uint8_t> code) const override {
    constexpr size_t kBytes = 8, kFarthest = 32;
    for (size_t at = code.size() - std::min(code.size(), kBytes); at > 0 && code.size() - at <= kFarthest; --at) {
      const auto c = code.subspan(at);
      // lea r64, [rsp + n]
      const bool is_far = (c[2] & 0xc7) == 0x84;
      if ((c[0] != 0x48 && c[0] != 0x4c) || c[1] != 0x8d || ((c[2] & 0xc7) != 0x44 && !is_far) || c[3] != 0x24)
        continue;
      if (!runs_on_to(code, at)) return std::nullopt;
      const int64_t slot = is_far ? int64_t{number_at(c, 4)} : static_cast<int8_t>(c[4]);
      const int number = (c[2] >> 3 & 7) | (c[0] == 0x4c ? 8 : 0);
      if (number == x86::kRdx || number == x86::kRsi) return slot;
      // mov [rsp], r64: arguments of stubs of the first compiler lie there.
      const auto next = c.subspan(is_far ? 8 : 5);
      const bool is_stored = next.size() >= 4 && next[0] == c[0] && next[1] == 0x89 &&
                             next[2] == ((c[2] & 0x38) | 0x04) && next[3] == 0x24;
      if (is_stored) return slot;
    }
    return std::nullopt;
  }
  [[nodiscard]] bool follows_code() const override { return true; }
  [[nodiscard]] std::optional<WayOut> way_out(std::span<const uint8_t> code, const Followed& from) const override {
    X86Follower follower(code, from.code_begin != 0 ? from.code_begin : from.at.pc, from);
    const auto end = follower.follow(false);
    const auto sp = follower.reg(x86::kRsp);
    const Address fp = follower.reg(x86::kRbp).value_or(0);
    if (!sp) return std::nullopt;
    if (end == X86Follower::End::kReturnedToPopped) {
      if (const auto popped = follower.popped()) return WayOut{{*popped, *sp, fp}};
      return std::nullopt;
    }
    const bool jumps = end == X86Follower::End::kJumped;
    if (end != X86Follower::End::kReturned && !jumps) return std::nullopt;
    const auto return_address = follower.on_stack(*sp);
    if (!return_address) return std::nullopt;
    return WayOut{{*return_address, *sp + 8, fp},
                  jumps,
                  follower.jumped_to(),
                  follower.register_jumped_to(),
                  follower.reg(x86::kR13).value_or(0)};
  }
  // mov rbx, n; jmp: C1 and C2 call so what may be interpreted.
  [[nodiscard]] bool is_call_stub(std::span<const uint8_t> code, size_t at) const override {
    constexpr size_t kMove = 10;
    const auto is_at = [&](size_t move) {
      return move + kMove < code.size() && code[move] == 0x48 && code[move + 1] == 0xbb && code[move + kMove] == 0xe9;
    };
    return is_at(at) || (at >= kMove && is_at(at - kMove));
  }
  [[nodiscard]] Address thrown_at(const Fragment& fragment) const override { return fragment.general[kRdx]; }
  // mov rax, SYS_rt_sigreturn; syscall
  [[nodiscard]] bool returns_from_signal(std::span<const uint8_t> code, size_t at) const override {
    constexpr uint8_t kReturn[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
    constexpr size_t kPlaces[] = {0, 7, 9};
    return std::any_of(std::begin(kPlaces), std::end(kPlaces), [&](size_t place) {
      return at >= place && code.size() - (at - place) >= sizeof(kReturn) &&
             std::equal(std::begin(kReturn), std::end(kReturn), code.begin() + static_cast<std::ptrdiff_t>(at - place));
    });
  }
  // ucontext: flags, link, the other stack, then r8 to r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip.
  [[nodiscard]] SignalFrame signal_frame() const override {
    constexpr uint16_t kFirst = 40;
    constexpr auto place = [](int number) { return static_cast<uint16_t>(kFirst + 8 * number); };
    SignalFrame frame{{}, place(16), place(15), place(10)};
    constexpr int kNumbers[] = {13, 11, 14, 12, 9, 8, 10, 15, 0, 1, 2, 3, 4, 5, 6, 7};
    for (size_t i = 0; i < std::size(kNumbers); ++i) frame.general[i] = place(kNumbers[i]);
    return frame;
  }
  // What C1 has pushed for a stub it pops right behind the call; rbp is popped by those who return. The code may also
  // begin before the call.
  [[nodiscard]] int64_t popped_after_call(std::span<const uint8_t> code) const override {
    constexpr size_t kCall = 5;
    int64_t popped = 0;
    size_t at = 0;
    const auto moves = [&](uint8_t first) {  // push or pop: its length
      const size_t prefix = at < code.size() && code[at] == 0x41 ? 1 : 0;
      if (at + prefix >= code.size()) return size_t{0};
      const uint8_t opcode = code[at + prefix];
      const bool of_fp = prefix == 0 && (opcode & 7) == 5;
      return opcode >= first && opcode < first + 8 && !of_fp ? prefix + 1 : 0;
    };
    for (size_t length = 0; (length = moves(0x50)) != 0; at += length) popped -= 8;
    if (at < code.size() && code[at] == 0xe8) {
      at += kCall;
    } else if (popped != 0) {
      return 0;
    }
    for (size_t length = 0; (length = moves(0x58)) != 0; at += length) popped += 8;
    return std::max<int64_t>(popped, 0);
  }
  // mov rdi, r15; mov esi, n, mov rsi, n, or xor esi, esi; .. call. Around the call of who returns its result is kept
  // (push rax; sub rsp, 16: 24 bytes), and sp is aligned if it has to be (sub rsp, 8).
  [[nodiscard]] std::optional<ThawCall> thaw_call(std::span<const uint8_t> code) const override {
    constexpr size_t kNear = 48, kMove = 5, kCall = 5;
    constexpr int64_t kResult = 24, kAligned = 8;
    if (code.size() < kNear || code[code.size() - kCall] != 0xe8) return std::nullopt;
    const size_t call = code.size() - kCall;
    const bool aligns = moves_sp(code.subspan(call - 4), 0xec) == 4 && code[call - 1] == kAligned;
    for (size_t at = call - kMove; at >= code.size() - kNear + 3; --at) {
      const bool behind_thread = code[at - 3] == 0x49 && code[at - 2] == 0x8b && code[at - 1] == 0xff;
      const bool zero = code[at] == 0x33 && code[at + 1] == 0xf6, moves = code[at] == 0xbe;
      // As 21 does it.
      const bool moves_wide = code[at] == 0x48 && code[at + 1] == 0xc7 && code[at + 2] == 0xc6;
      if (!behind_thread || (!zero && !moves && !moves_wide)) continue;
      const bool is_return = !zero && number_at(code, at + (moves ? 1 : 3)) != 0;
      return ThawCall{is_return, (is_return ? kResult : 0) + (aligns ? kAligned : 0)};
    }
    return std::nullopt;
  }
  [[nodiscard]] std::optional<uint64_t> field_put_into_sp(std::span<const uint8_t> code) const override {
    // mov rsp, [r15 + n]
    std::optional<uint64_t> found;
    for (size_t i = 0; i + 7 <= code.size(); ++i) {
      if (code[i] != 0x49 || code[i + 1] != 0x8b || code[i + 2] != 0xa7) continue;
      const auto offset = static_cast<uint64_t>(number_at(code, i + 3));
      if (found && *found != offset) return std::nullopt;
      found = offset;
    }
    return found;
  }
  [[nodiscard]] Address bytes_to_thaw_call() const override { return 80; }
  [[nodiscard]] std::optional<CallAhead> call_ahead(std::span<const uint8_t> code, Address sp) const override {
    constexpr Address kAnywhere = 4096;
    Followed from;
    from.at = {kAnywhere, sp, 0};
    X86Follower follower(code, kAnywhere, from);
    if (follower.follow(true) != X86Follower::End::kCalled) return std::nullopt;
    const auto called_at = follower.reg(x86::kRsp);
    if (!called_at) return std::nullopt;
    return CallAhead{follower.pc() - kAnywhere, static_cast<int64_t>(*called_at - sp)};
  }
  [[nodiscard]] Address stack_alignment() const override { return 8; }
  [[nodiscard]] bool just_saved_pair(std::span<const uint8_t> code, size_t at) const override {
    return at >= 1 && at + 3 <= code.size() && code[at - 1] == kPushRbp && code[at] == 0x48 &&
           ((code[at + 1] == 0x8b && code[at + 2] == 0xec) || (code[at + 1] == 0x89 && code[at + 2] == 0xe5));
  }

  [[nodiscard]] bool jumps_on(std::span<const uint8_t> code) const override {
    // endbr64; bnd; jmp [rip + n]
    constexpr std::array<uint8_t, 4> kEndbr = {0xf3, 0x0f, 0x1e, 0xfa};
    if (code.size() >= 4 && std::equal(kEndbr.begin(), kEndbr.end(), code.begin())) code = code.subspan(4);
    if (!code.empty() && code[0] == 0xf2) code = code.subspan(1);
    return code.size() >= 2 && code[0] == 0xff && code[1] == 0x25;
  }
  [[nodiscard]] std::optional<int64_t> frame_with_record(std::span<const uint8_t>) const override {
    return std::nullopt;
  }

  [[nodiscard]] bool follows_call(std::span<const uint8_t, 8> before) const override {
    if (before[3] == 0xe8) return true;                                           // call rel32
    if (before[6] == 0xff && (before[7] & 0xf8) == 0xd0) return true;             // call reg
    return before[5] == 0x41 && before[6] == 0xff && (before[7] & 0xf8) == 0xd0;  // call r8 to r15
  }

  [[nodiscard]] Position unsaved_return(const Fragment& fragment, uint64_t word_at_sp) const override {
    return {word_at_sp, fragment.sp + 8, fragment.fp};
  }
  [[nodiscard]] Address popped_return(const Fragment& fragment) const override { return fragment.general[kRax]; }
  [[nodiscard]] Address entry_method(const Fragment& fragment) const override { return fragment.general[kRbx]; }
  [[nodiscard]] Address bytecode_pointer(const Fragment& fragment) const override { return fragment.general[kR13]; }
  [[nodiscard]] Address sender_sp(const Fragment& fragment, int) const override { return fragment.general[kR13]; }

 private:
  [[nodiscard]] static int32_t number_at(std::span<const uint8_t> code, size_t at) {
    int32_t number = 0;
    std::memcpy(&number, code.data() + at, sizeof(number));
    return number;
  }
  // In a straight line, and the last instruction is a call.
  [[nodiscard]] static bool runs_on_to(std::span<const uint8_t> code, size_t at) {
    while (at < code.size()) {
      const auto instruction = x86::decode(code.subspan(at));
      if (!instruction) return false;
      at += instruction->length;
      if (instruction->does == x86::Does::kBranch) return at == code.size() && !instruction->always_branches;
    }
    return false;
  }
  // Anything that may be one: jmp and jcc, short and long.
  [[nodiscard]] static std::optional<size_t> branch_to(std::span<const uint8_t> code, size_t target) {
    for (size_t at = 0; at + 6 <= code.size(); ++at) {
      const auto goes_to = [&](size_t length, int64_t distance) {
        return static_cast<int64_t>(at + length) + distance == static_cast<int64_t>(target);
      };
      const bool is_short = code[at] == 0xeb || (code[at] & 0xf0) == 0x70;
      if (is_short && goes_to(2, static_cast<int8_t>(code[at + 1]))) return at;
      if (code[at] == 0xe9 && goes_to(5, number_at(code, at + 1))) return at;
      if (code[at] == 0x0f && (code[at + 1] & 0xf0) == 0x80 && goes_to(6, number_at(code, at + 2))) return at;
    }
    return std::nullopt;
  }

  // Stack bang (mov [rsp - n], eax); push rbp; sub rsp. Wrappers of native methods set rbp before they lower rsp. Small
  // frames of C2, which do without the bang: sub rsp; mov [rsp + n], rbp. A method that is not entered any more begins
  // with a jump over the first 5 bytes of the bang, or of the other.
  [[nodiscard]] static FrameState prologue_state(const CodeBlob& blob, Address pc, std::span<const uint8_t> code,
                                                 size_t at) {
    constexpr size_t kFirst = 7, kSetFp = 3;
    if (blob.entry == 0 || pc <= blob.entry) return FrameState::kNothing;
    size_t i = at - std::min<size_t>(at, pc - blob.entry);
    const auto is = [&](size_t offset, std::initializer_list<uint8_t> bytes) {
      return offset + bytes.size() <= code.size() && std::equal(bytes.begin(), bytes.end(), code.begin() + offset);
    };
    const auto saves_fp = [&](size_t offset) -> size_t {  // mov [rsp + n], rbp: its length
      if (is(offset, {0x48, 0x89, 0x2c, 0x24})) return 4;
      if (is(offset, {0x48, 0x89, 0x6c, 0x24})) return 5;
      return is(offset, {0x48, 0x89, 0xac, 0x24}) ? 8 : 0;
    };
    const bool overwritten = is(i, {0xe9});
    const size_t lowers = i >= code.size()            ? 0
                          : !overwritten              ? moves_sp(code.subspan(i), 0xec)
                          : saves_fp(i + kFirst) != 0 ? kFirst
                                                      : 0;
    if (const size_t saves = lowers == 0 ? 0 : saves_fp(i + lowers)) {
      if (i + lowers > at) return FrameState::kNothing;
      return i + lowers + saves > at ? FrameState::kLowered : FrameState::kComplete;
    }
    // Object.hashCode() looks at the object before it makes a frame (25).
    for (size_t j = i; blob.kind == BlobKind::kNativeWrapper && j + 4 <= at; ++j) {
      if (is(j, {kPushRbp, 0x48, 0x8b, 0xec})) i = j;
    }
    if (i + kFirst <= at && (is(i, {0x89, 0x84, 0x24}) || (overwritten && is(i + kFirst, {kPushRbp})))) i += kFirst;
    if (i >= at || code[i] != kPushRbp) return FrameState::kNothing;
    ++i;
    if (is(i, {0x48, 0x8b, 0xec}) || is(i, {0x48, 0x89, 0xe5})) i += kSetFp;
    if (i >= at) return FrameState::kSavedPair;
    const size_t length = moves_sp(code.subspan(i), 0xec);
    return length != 0 && i + length <= at ? FrameState::kComplete : FrameState::kSavedPair;
  }

  // Wrappers of native methods since 25 poll in between: leave; test [r15 + n], 1; je; ..; cmp [r15 + n], 0; jne; ret.
  [[nodiscard]] static bool has_polled_behind_leave(std::span<const uint8_t> code, size_t at) {
    constexpr size_t kFarthest = 40;
    constexpr std::array<uint8_t, 4> kLeaveAndTest = {kLeave, 0x41, 0xf6, 0x47};
    for (size_t i = at; i-- > at - std::min(at, kFarthest) && code[i] != kNearReturn;) {
      const auto c = code.subspan(i);
      if (c.size() >= kLeaveAndTest.size() && std::equal(kLeaveAndTest.begin(), kLeaveAndTest.end(), c.begin()))
        return true;
    }
    return false;
  }

  // Up to 13 methods poll by reading a page before they return: test [rip + n], eax; or mov r10, [r15 + n], or an
  // address; test [r10], eax.
  template <class Is>
  [[nodiscard]] static bool polls_by_page(const Is& is) {
    const auto reads_and_returns = [&](size_t at) {
      return is(at, 0x41) && is(at + 1, 0x85) && is(at + 2, 0x02) && is(at + 3, kNearReturn);
    };
    if (is(0, 0x85) && is(1, 0x05) && is(6, kNearReturn)) return true;
    if (is(0, 0x4d) && is(1, 0x8b) && is(2, 0x97)) return reads_and_returns(7);
    if (is(0, 0x4d) && is(1, 0x8b) && is(2, 0x57)) return reads_and_returns(4);
    if (is(0, 0x49) && is(1, 0xba)) return reads_and_returns(10);
    return reads_and_returns(0);
  }

  // add rsp; pop rbp; poll (cmp rsp, [r15 + n]; ja); ret. Wrappers of native methods: leave; is an exception pending
  // (cmp [r15 + n], 0; jne)?; ret
  [[nodiscard]] static FrameState epilogue_state(std::span<const uint8_t> code, size_t at) {
    const auto is = [&](size_t offset, uint8_t byte) { return at + offset < code.size() && code[at + offset] == byte; };
    const bool after_add = (at >= 4 && moves_sp(code.subspan(at - 4), 0xc4) == 4) ||
                           (at >= 7 && moves_sp(code.subspan(at - 7), 0xc4) == 7);
    if (is(0, kPopRbp) && after_add) return FrameState::kSavedPair;
    if (is(0, kNearReturn)) return FrameState::kNothing;
    // In the poll: 49 3b a7 disp32 or 49 3b 67 disp8, then 0f 87 rel32, then c3.
    for (const size_t poll : {size_t{7}, size_t{4}}) {
      if (is(0, 0x49) && is(1, 0x3b) && is(poll, 0x0f) && is(poll + 1, 0x87) && is(poll + 6, kNearReturn)) {
        return FrameState::kNothing;
      }
    }
    if (is(0, 0x0f) && is(1, 0x87) && is(6, kNearReturn) && at >= 4) return FrameState::kNothing;
    if (polls_by_page(is)) return FrameState::kNothing;
    // cmp has a short and a long form; `behind`: so many bytes are behind us.
    constexpr std::pair<uint8_t, size_t> kForms[] = {{0x83, 5}, {0x81, 8}};
    for (const auto& [opcode, length] : kForms) {
      for (const size_t behind : {size_t{0}, length}) {
        const auto was = [&](size_t offset, uint8_t byte) { return is(offset - behind - 1, byte); };
        if (at > behind && was(0, kLeave) && was(1, 0x49) && was(2, opcode) && was(3, 0x7f) &&
            is(length - behind, 0x0f) && is(length + 1 - behind, 0x85) && is(length + 6 - behind, kNearReturn)) {
          return FrameState::kNothing;
        }
      }
    }
    return FrameState::kComplete;
  }
};

}  // namespace

const Machine& Machine::x86_64() {
  static const X8664 machine;
  return machine;
}

}  // namespace tarsier::hotspot
