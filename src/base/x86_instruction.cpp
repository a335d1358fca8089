#include "base/x86_instruction.h"

#include <cstring>

namespace tarsier::x86 {
namespace {

struct Prefixes {
  bool rex = false, wide = false, operand16 = false, repeat = false, segment = false;
  uint8_t reg = 0, index = 0, base = 0;  // 8 if REX extends it
};

// The operand that may be in memory, and the register beside it.
struct Operands {
  uint8_t reg = 0;
  uint8_t direct = kNoRegister;  // the other operand is this register
  uint8_t base = kNoRegister;    // it is in memory: base + displacement, nothing else
  bool simple = false;           // that is all
  int32_t displacement = 0;
  uint8_t distance_at = 0;
};

class Reader {
 public:
  explicit Reader(std::span<const uint8_t> code) : code_(code.first(code.size() < kMost ? code.size() : kMost)) {}
  std::optional<Instruction> read();

 private:
  static constexpr size_t kMost = 15;

  [[nodiscard]] bool has(size_t bytes) const { return code_.size() - at_ >= bytes; }
  uint8_t next() {
    if (!has(1)) {
      failed_ = true;
      return 0;
    }
    return code_[at_++];
  }
  int32_t number(size_t bytes) {
    if (!has(bytes)) {
      failed_ = true;
      return 0;
    }
    int32_t value = 0;
    std::memcpy(&value, code_.data() + at_, bytes);
    at_ += bytes;
    return bytes == 1 ? static_cast<int8_t>(value) : value;
  }
  void skip(size_t bytes) {
    if (has(bytes)) {
      at_ += bytes;
    } else {
      failed_ = true;
    }
  }
  // Of an operation on a register or memory that may have 64 bits.
  [[nodiscard]] uint8_t immediate() const { return p_.operand16 && !p_.wide ? 2 : 4; }
  [[nodiscard]] uint8_t operand_bytes() const { return p_.wide ? 8 : (p_.operand16 ? 2 : 4); }

  Operands operands();
  bool one_byte(uint8_t opcode);
  bool two_bytes(uint8_t opcode);
  bool arithmetic(uint8_t opcode);
  bool group(uint8_t opcode);
  void branch(size_t distance_bytes, bool always);
  // Numbers 4 to 7 name the second bytes of the first four registers then.
  [[nodiscard]] bool is_high_byte(uint8_t reg) const { return !p_.rex && reg >= 4; }
  // The other operand, register or memory, is changed to what can't be told.
  void changes(const Operands& o, uint8_t bytes);
  void changes_register(uint8_t reg) {
    result_.does = Does::kChange;
    result_.to = reg;
  }

  std::span<const uint8_t> code_;
  size_t at_ = 0;
  bool failed_ = false;
  Prefixes p_;
  Instruction result_;
};

Operands Reader::operands() {
  Operands o;
  const uint8_t modes = next();
  const uint8_t mode = modes >> 6, low = modes & 7;
  o.reg = static_cast<uint8_t>(((modes >> 3) & 7) | p_.reg);
  if (mode == 3) {
    o.direct = static_cast<uint8_t>(low | p_.base);
    return o;
  }
  if (mode == 0 && low == 5) {  // from the instruction's end
    o.distance_at = static_cast<uint8_t>(at_);
    o.displacement = number(4);
    result_.distance_at = o.distance_at;
    return o;
  }
  o.base = static_cast<uint8_t>(low | p_.base);
  o.simple = !p_.segment;
  bool absolute = false;
  if (low == 4) {
    const uint8_t scaled = next();
    o.base = static_cast<uint8_t>((scaled & 7) | p_.base);
    if ((((scaled >> 3) & 7) | p_.index) != 4) o.simple = false;
    if ((scaled & 7) == 5 && mode == 0) {
      absolute = true;
      o.simple = false;
    }
  }
  if (mode == 1) o.displacement = number(1);
  if (mode == 2 || absolute) o.displacement = number(4);
  return o;
}

void Reader::changes(const Operands& o, uint8_t bytes) {
  if (o.direct != kNoRegister) {
    if (bytes == 1) failed_ |= is_high_byte(o.direct);
    changes_register(o.direct);
  } else if (o.simple) {
    result_.does = Does::kStore;
    result_.base = o.base;
    result_.value = o.displacement;
    result_.bytes = bytes;
  } else {
    result_.does = Does::kStoreAnywhere;
  }
}

void Reader::branch(size_t distance_bytes, bool always) {
  result_.does = Does::kBranch;
  result_.always_branches = always;
  if (distance_bytes == 4) result_.distance_at = static_cast<uint8_t>(at_);
  result_.short_branch = distance_bytes == 1;
  result_.value = number(distance_bytes);
}

// add, or, adc, sbb, and, sub, xor, cmp in their six forms.
bool Reader::arithmetic(uint8_t opcode) {
  const bool compares = (opcode >> 3) == 7;
  const uint8_t form = opcode & 7;
  if (form >= 6) return false;
  if (form >= 4) {
    skip(form == 4 ? 1 : immediate());
    if (!compares) changes_register(kRax);
    return true;
  }
  const Operands o = operands();
  if (compares) return true;
  if (form < 2) {
    changes(o, form == 0 ? 1 : operand_bytes());
  } else {
    changes_register(o.reg);
    return form != 2 || !is_high_byte(o.reg);
  }
  return true;
}

// Operations that the middle bits of the next byte tell, with a constant.
bool Reader::group(uint8_t opcode) {
  const Operands o = operands();
  const uint8_t what = o.reg & 7;
  switch (opcode) {
    case 0x80:
    case 0x81:
    case 0x83: {
      const int32_t constant = opcode == 0x81 ? number(immediate()) : number(1);
      if (what == 7) return true;
      if (o.direct == kRsp && opcode != 0x80 && p_.wide && (what == 0 || what == 5)) {
        result_.does = Does::kAddToStack;
        result_.value = what == 0 ? constant : -int64_t{constant};
        return true;
      }
      changes(o, opcode == 0x80 ? 1 : operand_bytes());
      return true;
    }
    case 0xc0:
    case 0xc1:
    case 0xc6:
      skip(1);
      changes(o, opcode == 0xc1 ? operand_bytes() : 1);
      return opcode != 0xc6 || what == 0;
    case 0xc7:
      skip(immediate());
      changes(o, operand_bytes());
      return what == 0;
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3:
      changes(o, (opcode & 1) == 0 ? 1 : operand_bytes());
      return true;
    case 0xf6:
    case 0xf7:
      if (what > 3) return false;  // multiplies and divides
      if (what < 2) {
        skip(opcode == 0xf6 ? 1 : immediate());
      } else {
        changes(o, opcode == 0xf6 ? 1 : operand_bytes());
      }
      return true;
    default:  // 0xfe, 0xff
      if (what < 2) {
        changes(o, opcode == 0xfe ? 1 : operand_bytes());
        return true;
      }
      if (opcode == 0xff && (what == 2 || what == 4)) {
        result_.does = Does::kBranch;
        result_.always_branches = what == 4;
        return true;
      }
      return false;
  }
}

bool Reader::two_bytes(uint8_t opcode) {
  if (opcode >= 0x80 && opcode <= 0x8f) {
    branch(4, false);
    return true;
  }
  if (opcode >= 0x40 && opcode <= 0x4f) {
    changes_register(operands().reg);
    return true;
  }
  if (opcode >= 0x90 && opcode <= 0x9f) {
    changes(operands(), 1);
    return true;
  }
  switch (opcode) {
    case 0x1e:  // with its prefix, where indirect branches may land
      if (!p_.repeat || next() != 0xfa) return false;
      return true;
    case 0x1f:
      (void)operands();
      result_.does = Does::kPad;
      return true;
    case 0xb6:
    case 0xb7:
    case 0xbe:
    case 0xbf:
    case 0xaf:
      changes_register(operands().reg);
      return true;
    case 0x10:
    case 0x28:
    case 0x57:
    case 0x6e:
    case 0x6f:
    case 0xef:
      (void)operands();
      return true;  // a vector register is changed
    case 0x11:
    case 0x29:
    case 0x7f:
    case 0xd6: {
      const Operands o = operands();
      if (o.direct == kNoRegister) changes(o, 16);
      return true;
    }
    default:
      return false;
  }
}

bool Reader::one_byte(uint8_t opcode) {
  if (opcode < 0x40) return arithmetic(opcode);
  if (opcode >= 0x50 && opcode <= 0x57) {
    if (p_.operand16) return false;
    result_.does = Does::kPush;
    result_.from = static_cast<uint8_t>((opcode & 7) | p_.base);
    return true;
  }
  if (opcode >= 0x70 && opcode <= 0x7f) {
    branch(1, false);
    return true;
  }
  if (opcode >= 0xb0 && opcode <= 0xb7) {
    skip(1);
    changes_register(static_cast<uint8_t>((opcode & 7) | p_.base));
    return !is_high_byte(result_.to);
  }
  if (opcode >= 0xb8 && opcode <= 0xbf) {
    skip(p_.wide ? 8 : immediate());
    changes_register(static_cast<uint8_t>((opcode & 7) | p_.base));
    return true;
  }
  switch (opcode) {
    case 0x63:
      changes_register(operands().reg);
      return true;
    case 0x84:
    case 0x85:
      (void)operands();
      return true;
    case 0x88:
    case 0x89: {
      const Operands o = operands();
      const bool whole = opcode == 0x89 && p_.wide;
      changes(o, opcode == 0x88 ? 1 : operand_bytes());
      if (!whole) return true;
      result_.from = o.reg;
      if (o.direct != kNoRegister) result_.does = Does::kMove;
      return true;
    }
    case 0x8a:
    case 0x8b: {
      const Operands o = operands();
      changes_register(o.reg);
      if (opcode == 0x8b && p_.wide && o.direct != kNoRegister) {
        result_.does = Does::kMove;
        result_.from = o.direct;
      } else if (opcode == 0x8b && p_.wide && o.simple) {
        result_.loads = true;
        result_.base = o.base;
        result_.value = o.displacement;
      }
      return opcode == 0x8b || !is_high_byte(o.reg);
    }
    case 0x8d: {
      const Operands o = operands();
      if (o.direct != kNoRegister) return false;
      changes_register(o.reg);
      if (o.simple && p_.wide) {
        result_.does = Does::kAddress;
        result_.base = o.base;
        result_.value = o.displacement;
      }
      return true;
    }
    case 0x90:
    case 0xcc:
      result_.does = Does::kPad;
      return p_.base == 0;
    case 0xc5:  // vzeroupper, of all that begin so
      return !p_.rex && next() == 0xf8 && next() == 0x77;
    case 0xa8:
      skip(1);
      return true;
    case 0xa9:
      skip(immediate());
      return true;
    case 0xe8:
      branch(4, false);
      return true;
    case 0xe9:
      branch(4, true);
      return true;
    case 0xeb:
      branch(1, true);
      return true;
    case 0x80:
    case 0x81:
    case 0x83:
    case 0xc0:
    case 0xc1:
    case 0xc6:
    case 0xc7:
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3:
    case 0xf6:
    case 0xf7:
    case 0xfe:
    case 0xff:
      return group(opcode);
    default:
      return false;
  }
}

std::optional<Instruction> Reader::read() {
  uint8_t opcode = next();
  for (; !failed_; opcode = next()) {
    if (opcode == 0x66) {
      p_.operand16 = true;
    } else if (opcode == 0xf2 || opcode == 0xf3) {
      p_.repeat = opcode == 0xf3;
    } else if (opcode == 0x2e || opcode == 0x36 || opcode == 0x3e || opcode == 0x26) {
      // No meaning any more.
    } else if (opcode == 0x64 || opcode == 0x65) {
      p_.segment = true;
    } else {
      break;
    }
  }
  if ((opcode & 0xf0) == 0x40) {
    p_.rex = true;
    p_.wide = (opcode & 8) != 0;
    p_.reg = (opcode & 4) != 0 ? 8 : 0;
    p_.index = (opcode & 2) != 0 ? 8 : 0;
    p_.base = (opcode & 1) != 0 ? 8 : 0;
    opcode = next();
  }
  const bool known = opcode == 0x0f ? two_bytes(next()) : one_byte(opcode);
  if (failed_ || !known) return std::nullopt;
  result_.length = static_cast<uint8_t>(at_);
  return result_;
}

}  // namespace

std::optional<Instruction> decode(std::span<const uint8_t> code) {
  return Reader(code).read();
}

}  // namespace tarsier::x86
