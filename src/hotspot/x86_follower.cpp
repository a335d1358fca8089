#include "hotspot/x86_follower.h"

#include <algorithm>
#include <cstring>

namespace tarsier::hotspot {
namespace {

constexpr uint8_t kOrder[] = {x86::kRax, x86::kRbx, x86::kRcx, x86::kRdx, x86::kRsi, x86::kRdi, x86::kRbp, x86::kRsp,
                              x86::kR8,  x86::kR9,  x86::kR10, x86::kR11, x86::kR12, x86::kR13, x86::kR14, x86::kR15};
constexpr uint8_t kCallsChange[] = {x86::kRax, x86::kRcx, x86::kRdx, x86::kRsi, x86::kRdi,
                                    x86::kR8,  x86::kR9,  x86::kR10, x86::kR11};

// Of an operand that may be in memory, with the byte that tells; 0: it does not fit.
size_t operand_length(std::span<const uint8_t> code) {
  if (code.empty()) return 0;
  const int mode = code[0] >> 6, low = code[0] & 7;
  if (mode == 3) return 1;
  size_t length = 1;
  if (low == 4) {
    if (code.size() < 2) return 0;
    length = 2;
    if (mode == 0 && (code[1] & 7) == 5) return 6;
  } else if (mode == 0 && low == 5) {
    return 5;
  }
  return length + (mode == 1 ? 1 : mode == 2 ? 4 : 0);
}

}  // namespace

X86Follower::X86Follower(std::span<const uint8_t> code, Address code_begin, const Followed& from)
    : code_(code), code_begin_(code_begin), pc_(from.at.pc), stack_(from.stack), bytes_(from.bytes) {
  if (from.general != nullptr) {
    for (size_t i = 0; i < std::size(kOrder); ++i) registers_[kOrder[i]] = from.general[i];
  }
  registers_[x86::kRsp] = from.at.sp;
  registers_[x86::kRbp] = from.at.fp;
}

std::span<const uint8_t> X86Follower::here() const {
  return pc_ >= code_begin_ && pc_ - code_begin_ < code_.size() ? code_.subspan(pc_ - code_begin_)
                                                                : std::span<const uint8_t>{};
}

std::optional<uint64_t> X86Follower::on_stack(Address at) const {
  for (auto it = stored_.rbegin(); it != stored_.rend(); ++it) {
    if (it->at == at) return it->value;
    if (it->at < at + 8 && at < it->at + 8) return std::nullopt;
  }
  if (bytes_.size() < 8 || at < stack_ || at - stack_ > bytes_.size() - 8) return std::nullopt;
  uint64_t value = 0;
  std::memcpy(&value, bytes_.data() + (at - stack_), sizeof(value));
  return value;
}

// Vector instructions, of AVX and AVX-512: by their length. Few change a register that matters here.
size_t X86Follower::vector(std::span<const uint8_t> code) {
  const size_t prefix = code[0] == 0xc5 ? 2 : code[0] == 0xc4 ? 3 : 4;
  if (code.size() < prefix + 2) return 0;
  const int map = code[0] == 0xc5 ? 1 : code[0] == 0xc4 ? code[1] & 0x1f : code[1] & 7;
  const uint8_t opcode = code[prefix];
  if (map < 1 || map > 3) return 0;
  if (map == 1 && opcode == 0x77) return prefix + 1;  // vzeroupper
  const size_t operand = operand_length(code.subspan(prefix + 1));
  if (operand == 0) return 0;
  if ((map == 2 && opcode >= 0xf0) || (map == 3 && opcode == 0xf0)) {  // of general registers: andn, mulx, rorx, ..
    if (prefix != 3 || (map == 2 && (opcode < 0xf2 || opcode > 0xf7))) return 0;
    const bool is_extended = (code[1] & 0x80) == 0;
    registers_[((code[prefix + 1] >> 3) & 7) | (is_extended ? 8 : 0)].reset();
    if (opcode == 0xf3 || opcode == 0xf6) registers_[~(code[2] >> 3) & 0xf].reset();
    return prefix + 1 + operand + (map == 3 ? 1 : 0);
  }
  constexpr uint8_t kToGeneral[] = {0x2c, 0x2d, 0x50, 0x7e, 0x93, 0xc5, 0xd7};
  const bool to_general =
      (map == 1 && std::find(std::begin(kToGeneral), std::end(kToGeneral), opcode) != std::end(kToGeneral)) ||
      (map == 3 && opcode >= 0x14 && opcode <= 0x17);
  if (to_general) {
    for (uint8_t number = 0; number < x86::kRegisters; ++number) {
      if (number % 8 == (code[prefix + 1] & 7) || number % 8 == ((code[prefix + 1] >> 3) & 7)) {
        if (number != x86::kRsp && number != x86::kRbp) registers_[number].reset();
      }
    }
  }
  const bool constant =
      map == 3 ||
      (map == 1 && ((opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 || (opcode >= 0xc4 && opcode <= 0xc6)));
  return prefix + 1 + operand + (constant ? 1 : 0);
}

size_t X86Follower::special(std::span<const uint8_t> code) {
  const auto is = [&](std::initializer_list<uint8_t> bytes) {
    return code.size() >= bytes.size() && std::equal(bytes.begin(), bytes.end(), code.begin());
  };
  const bool extended = code[0] == 0x41 && code.size() > 1;
  const uint8_t first = extended ? code[1] : code[0];
  if (first >= 0x58 && first <= 0x5f) {
    popped_ = static_cast<uint8_t>((first & 7) | (extended ? 8 : 0));
    const Address from = *sp();
    sp() = from + 8;
    registers_[popped_] = on_stack(from);
    return extended ? 2 : 1;
  }
  if (extended) return 0;
  switch (first) {
    case 0x9c:  // pushf
      *sp() -= 8;
      store(*sp(), std::nullopt);
      return 1;
    case 0x9d:  // popf
      *sp() += 8;
      return 1;
    case 0xc9:  // leave
      sp() = registers_[x86::kRbp];
      if (!sp()) return 0;
      registers_[x86::kRbp] = on_stack(*sp());
      *sp() += 8;
      return 1;
    case 0xc4:
    case 0xc5:
    case 0x62:
      return vector(code);
    default:
      break;
  }
  if (is({0x48, 0x83, 0xe4}) && code.size() >= 4) {  // and rsp, n
    *sp() &= static_cast<uint64_t>(int64_t{static_cast<int8_t>(code[3])});
    return 4;
  }
  if (is({0x40, 0xf6, 0xc4}) && code.size() >= 4) {  // test spl, n
    zero_ = (*sp() & code[3]) == 0;
    return 4;
  }
  // Fences, and what saves and loads the state of vectors.
  if (is({0x0f, 0xae}) || is({0x48, 0x0f, 0xae})) {
    const size_t opcode = code[0] == 0x48 ? 3 : 2, operand = operand_length(code.subspan(opcode));
    return operand == 0 ? 0 : opcode + operand;
  }
  // Operations on single bits, of which some stubs make use: they change a register that does not matter, but one.
  const size_t bits = code[0] == 0xf3 ? 1 : 0, rex = code.size() > bits && (code[bits] & 0xf0) == 0x40 ? 1 : 0;
  if (code.size() > bits + rex + 2 && code[bits + rex] == 0x0f) {
    const uint8_t opcode = code[bits + rex + 1];
    const size_t operand = operand_length(code.subspan(bits + rex + 2));
    const uint8_t modes = code[bits + rex + 2], middle = (modes >> 3) & 7;
    const bool tests = opcode == 0xa3, tests_constant = opcode == 0xba && middle == 4;
    const bool counts = (opcode == 0xb8 && bits != 0) || opcode == 0xbc || opcode == 0xbd;
    if ((tests || tests_constant || counts) && operand != 0) {
      if (counts) registers_[middle | (rex != 0 && (code[bits] & 4) != 0 ? 8 : 0)].reset();
      return bits + rex + 2 + operand + (tests_constant ? 1 : 0);
    }
  }
  // Repeated operations on strings.
  const size_t at = code.size() > 2 && (code[0] == 0xf2 || code[0] == 0xf3) ? (code[1] == 0x48 ? 2 : 1) : 0;
  if (at != 0 && ((code[at] >= 0xa4 && code[at] <= 0xa7) || code[at] == 0xaa || code[at] == 0xab || code[at] == 0xae ||
                  code[at] == 0xaf)) {
    for (const uint8_t number : {x86::kRcx, x86::kRsi, x86::kRdi}) registers_[number].reset();
    return at + 1;
  }
  return 0;
}

std::optional<X86Follower::End> X86Follower::branch(const x86::Instruction& instruction, std::span<const uint8_t> code,
                                                    bool to_call) {
  const size_t opcode_at = (code[0] & 0xf0) == 0x40 ? 1 : 0;
  const bool indirect = code[opcode_at] == 0xff;
  const Address target = pc_ + static_cast<Address>(instruction.value);
  if (instruction.always_branches) {
    const uint8_t modes = indirect ? code[opcode_at + 1] : 0;
    if (indirect && (modes >> 6) == 3) {
      const auto number = static_cast<uint8_t>((modes & 7) | (opcode_at == 1 && (code[0] & 1) != 0 ? 8 : 0));
      register_jumped_to_ = registers_[number].value_or(0);
      return number == popped_ ? End::kReturnedToPopped : End::kJumped;
    }
    if (indirect) return End::kJumped;
    if (target < code_begin_ || target - code_begin_ >= code_.size()) {
      jumped_to_ = target;
      return End::kJumped;
    }
    if (target < pc_ && has_been_at(pc_)) return take_other_branch();
    pc_ = target;
    return std::nullopt;
  }
  const bool calls = indirect || code[opcode_at] == 0xe8;
  if (calls) {
    if (to_call) return End::kCalled;
    for (const uint8_t number : kCallsChange) registers_[number].reset();
    return std::nullopt;
  }
  const uint8_t condition = code[0] == 0x0f ? code[1] & 0xf : code[0] & 0xf;
  constexpr uint8_t kZero = 4, kNotZero = 5;
  const bool taken = was_zero_ && ((condition == kZero && *was_zero_) || (condition == kNotZero && !*was_zero_));
  const bool may_be_taken = !was_zero_ || (condition != kZero && condition != kNotZero);
  const bool leads_on = target > pc_ && target - code_begin_ < code_.size();
  constexpr size_t kMostForks = 64;
  if (may_be_taken && leads_on && forks_.size() < kMostForks && !has_been_at(pc_)) {
    forks_.push_back({target, registers_, stored_.size()});
  }
  if (taken) pc_ = target;
  return std::nullopt;
}

bool X86Follower::has_been_at(Address branch) {
  constexpr size_t kMost = 512;
  const bool known = std::find(branches_.begin(), branches_.end(), branch) != branches_.end();
  if (known || branches_.size() == kMost) return true;
  branches_.push_back(branch);
  return false;
}

std::optional<X86Follower::End> X86Follower::take_other_branch() {
  if (forks_.empty()) return End::kLost;
  pc_ = forks_.back().pc;
  registers_ = forks_.back().registers;
  stored_.resize(forks_.back().stored);
  forks_.pop_back();
  return std::nullopt;
}

std::optional<X86Follower::End> X86Follower::step(const x86::Instruction& instruction, std::span<const uint8_t> code,
                                                  bool to_call) {
  const auto address = [&]() -> Value {
    if (instruction.base == x86::kNoRegister || !registers_[instruction.base]) return std::nullopt;
    return *registers_[instruction.base] + static_cast<uint64_t>(instruction.value);
  };
  switch (instruction.does) {
    case x86::Does::kPush:
      *sp() -= 8;
      store(*sp(), registers_[instruction.from]);
      break;
    case x86::Does::kMove:
      registers_[instruction.to] = registers_[instruction.from];
      break;
    case x86::Does::kAddress:
      registers_[instruction.to] = address();
      break;
    case x86::Does::kAddToStack:
      *sp() += static_cast<uint64_t>(instruction.value);
      break;
    case x86::Does::kChange: {
      const Value from = instruction.loads ? address() : std::nullopt;
      registers_[instruction.to] = from ? on_stack(*from) : std::nullopt;
      break;
    }
    case x86::Does::kStore:
      if (const Value to = address()) {
        const bool whole = instruction.bytes == 8 && instruction.from != x86::kNoRegister;
        store(*to, whole ? registers_[instruction.from] : std::nullopt);
        for (uint64_t at = 8; at < instruction.bytes; at += 8) store(*to + at, std::nullopt);
      }
      break;
    case x86::Does::kBranch:
      return branch(instruction, code, to_call);
    default:
      break;
  }
  return std::nullopt;
}

X86Follower::End X86Follower::follow(bool to_call) {
  constexpr int kMostInstructions = 4000;
  for (int i = 0; i < kMostInstructions; ++i) {
    const auto code = here();
    if (code.empty() || !sp()) return End::kLost;
    if (code[0] == 0xc3) return End::kReturned;
    was_zero_ = zero_;
    zero_.reset();
    const uint8_t popped_before = popped_;
    popped_ = x86::kNoRegister;
    if (const size_t length = special(code)) {
      pc_ += length;
      continue;
    }
    const auto instruction = x86::decode(code);
    if (!instruction) return End::kLost;
    pc_ += instruction->length;
    if (instruction->does == x86::Does::kBranch) popped_ = popped_before;
    if (const auto end = step(*instruction, code, to_call)) return *end;
  }
  return End::kLost;
}

}  // namespace tarsier::hotspot
