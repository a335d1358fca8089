#include "linux/x86_hook_plan.h"

#include <array>
#include <cstring>
#include <limits>
#include <map>

#include "base/x86_instruction.h"

namespace tarsier::x86 {
namespace {

constexpr uint8_t kShortJump = 2;
constexpr uint64_t kPage = 4096;  // an instruction that lies in two pages can't be changed at once
constexpr std::array<Register, 6> kArguments = {kRdi, kRsi, kRdx, kRcx, kR8, kR9};
constexpr std::array<Register, 6> kKept = {kRbx, kRbp, kR12, kR13, kR14, kR15};

void append(std::vector<uint8_t>& code, std::initializer_list<uint8_t> bytes) {
  code.insert(code.end(), bytes);
}

template <class Number>
void append_number(std::vector<uint8_t>& code, Number number) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&number);
  code.insert(code.end(), bytes, bytes + sizeof(number));
}

bool fits(int64_t distance) {
  return distance >= std::numeric_limits<int32_t>::min() && distance <= std::numeric_limits<int32_t>::max();
}

// What a register or a place of the function's own stack holds.
struct Value {
  enum Kind : uint8_t { kUnknown, kOfBegin, kStack } kind = kUnknown;
  uint8_t reg = 0;     // kOfBegin: what this register held
  int64_t offset = 0;  // kStack: the address, from the stack pointer of the begin
  bool operator==(const Value&) const = default;
};

// What a straight run of instructions has done since the function's begin.
class Progress {
 public:
  Progress() {
    for (uint8_t r = 0; r < kRegisters; ++r) registers_[r] = {Value::kOfBegin, r, 0};
    registers_[kRsp] = {Value::kStack, 0, 0};
  }

  // False: it can't be undone, or not be told what it does.
  bool go_on(const Instruction& i) {
    switch (i.does) {
      case Does::kNothing:
      case Does::kPad:
        return true;
      case Does::kPush:
        move_stack(-8);
        stack_[depth()] = registers_[i.from];
        return true;
      case Does::kMove:
        return set(i.to, registers_[i.from]);
      case Does::kAddress: {
        const Value base = registers_[i.base];
        return set(i.to, base.kind == Value::kStack ? Value{Value::kStack, 0, base.offset + i.value} : Value{});
      }
      case Does::kAddToStack:
        move_stack(i.value);
        return depth() <= 0;
      case Does::kChange:
        return set(i.to, {});
      case Does::kStore:
        return store(i);
      case Does::kStoreAnywhere:
      case Does::kBranch:
        return false;
    }
    return false;
  }

  // Code that restores what registers held at the begin; nothing if that is not known any more.
  [[nodiscard]] std::optional<std::vector<uint8_t>> undo(uint8_t arguments) const {
    std::vector<uint8_t> lost(kKept.begin(), kKept.end());
    for (uint8_t a = 0; a < arguments && a < kArguments.size(); ++a) lost.push_back(kArguments[a]);
    std::erase_if(lost, [this](uint8_t r) { return registers_[r] == Value{Value::kOfBegin, r, 0}; });
    std::vector<uint8_t> code;
    int64_t pushed = 0;
    for (const uint8_t reg : lost) {
      const Value wanted{Value::kOfBegin, reg, 0};
      if (const auto holder = holder_of(wanted)) {
        if (*holder >= kR8) append(code, {0x41});
        append(code, {static_cast<uint8_t>(0x50 | (*holder & 7))});
      } else if (const auto place = place_of(wanted)) {
        append(code, {0xff, 0xb4, 0x24});  // push [rsp + distance]
        append_number(code, static_cast<int32_t>(*place - depth() + pushed));
      } else {
        return std::nullopt;
      }
      pushed += 8;
    }
    for (auto reg = lost.rbegin(); reg != lost.rend(); ++reg) {
      if (*reg >= kR8) append(code, {0x41});
      append(code, {static_cast<uint8_t>(0x58 | (*reg & 7))});
    }
    if (depth() != 0) {
      append(code, {0x48, 0x8d, 0xa4, 0x24});  // lea rsp, [rsp + distance]
      append_number(code, static_cast<int32_t>(-depth()));
    }
    return code;
  }

 private:
  [[nodiscard]] int64_t depth() const { return registers_[kRsp].offset; }
  void move_stack(int64_t by) { registers_[kRsp].offset += by; }
  bool set(uint8_t reg, Value value) {
    if (reg == kRsp) return false;
    registers_[reg] = value;
    return true;
  }
  // Only into the function's own stack: nobody else knows of that yet.
  bool store(const Instruction& i) {
    const Value base = registers_[i.base];
    if (base.kind != Value::kStack) return false;
    const int64_t at = base.offset + i.value;
    if (at + i.bytes > 0) return false;
    for (int64_t near = at - 7; near < at + i.bytes; ++near) stack_.erase(near);
    if (i.from != kNoRegister && i.bytes == 8) stack_[at] = registers_[i.from];
    return true;
  }
  [[nodiscard]] std::optional<uint8_t> holder_of(const Value& value) const {
    for (uint8_t r = 0; r < kRegisters; ++r) {
      if (registers_[r] == value) return r;
    }
    return std::nullopt;
  }
  [[nodiscard]] std::optional<int64_t> place_of(const Value& value) const {
    for (const auto& [at, what] : stack_) {
      if (at >= depth() && what == value) return at;  // below that, signal handlers write
    }
    return std::nullopt;
  }

  std::array<Value, kRegisters> registers_;
  std::map<int64_t, Value> stack_;
};

// Might a branch of the function go to (begin, last]? Every byte is taken for a branch: better one too many.
bool is_branched_to(const Function& function, size_t last) {
  const auto code = function.code;
  const auto inside = [last](int64_t target) { return target > 0 && target <= static_cast<int64_t>(last); };
  for (size_t at = 0; at + 1 < code.size(); ++at) {
    const uint8_t opcode = code[at];
    const bool is_short = opcode == 0xeb || (opcode >= 0x70 && opcode <= 0x7f) || (opcode >= 0xe0 && opcode <= 0xe3);
    if (is_short && inside(static_cast<int64_t>(at) + 2 + static_cast<int8_t>(code[at + 1]))) return true;
    const size_t distance_at = opcode == 0xe9 ? at + 1 : (opcode == 0x0f && (code[at + 1] & 0xf0) == 0x80 ? at + 2 : 0);
    if (distance_at == 0 || distance_at + 4 > code.size()) continue;
    int32_t distance = 0;
    std::memcpy(&distance, code.data() + distance_at, 4);
    if (inside(static_cast<int64_t>(distance_at) + 4 + distance)) return true;
  }
  return false;
}

bool in_one_page(uint64_t at, uint64_t bytes) {
  return at / kPage == (at + bytes - 1) / kPage;
}

std::optional<uint64_t> padding_near(uint64_t at, const FindPadding& find_padding) {
  const uint64_t from = at + kShortJump;
  return find_padding(from - 128, from + 127);
}

}  // namespace

Result<HookPlan> plan_hook(const Function& function, const FindPadding& find_padding) {
  Progress progress;
  size_t offset = 0;
  while (offset < function.code.size()) {
    const auto instruction = decode(function.code.subspan(offset));
    if (!instruction) break;
    const uint64_t at = function.address + offset;
    auto undo = progress.undo(function.arguments);
    if (undo && in_one_page(at, instruction->length) && (offset == 0 || !is_branched_to(function, offset))) {
      std::optional<uint64_t> padding;
      if (instruction->length < kLongJump && instruction->length >= kShortJump)
        padding = padding_near(at, find_padding);
      if (instruction->length >= kLongJump || padding) {
        const auto* begin = function.code.data();
        return HookPlan{at,
                        instruction->length,
                        padding.value_or(0),
                        std::move(*undo),
                        {begin, begin + offset + instruction->length}};
      }
    }
    if (!progress.go_on(*instruction)) break;
    offset += instruction->length;
  }
  return Error{Errc::kUnsupported, "none of its first instructions has room for a jump"};
}

Result<std::vector<uint8_t>> moved(const HookPlan& plan, uint64_t function, uint64_t to) {
  std::vector<uint8_t> code;
  const Error too_far{Errc::kUnsupported, "its first instructions need something that is out of reach"};
  bool ends = false;
  for (size_t offset = 0; offset < plan.instructions.size();) {
    const auto rest = std::span(plan.instructions).subspan(offset);
    const auto instruction = decode(rest);
    if (!instruction) return Error{Errc::kFailed, "an instruction is not known any more"};
    const uint64_t next = function + offset + instruction->length;
    if (instruction->short_branch) {
      const uint64_t target = next + static_cast<uint64_t>(instruction->value);
      if (instruction->always_branches) {
        append(code, {0xe9});
      } else {
        append(code, {0x0f, static_cast<uint8_t>(0x80 | (rest[instruction->length - 2U] & 0xf))});
      }
      const auto distance = static_cast<int64_t>(target - (to + code.size() + 4));
      if (!fits(distance)) return too_far;
      append_number(code, static_cast<int32_t>(distance));
    } else {
      const size_t begin = code.size();
      code.insert(code.end(), rest.begin(), rest.begin() + instruction->length);
      if (instruction->distance_at != 0) {
        int32_t distance = 0;
        std::memcpy(&distance, code.data() + begin + instruction->distance_at, 4);
        const auto further = int64_t{distance} + static_cast<int64_t>(next - (to + code.size()));
        if (!fits(further)) return too_far;
        const auto value = static_cast<int32_t>(further);
        std::memcpy(code.data() + begin + instruction->distance_at, &value, 4);
      }
    }
    ends = instruction->does == Does::kBranch && instruction->always_branches;
    offset += instruction->length;
  }
  if (ends) return code;
  const uint64_t after = function + plan.instructions.size();
  if (!fits(static_cast<int64_t>(after - (to + code.size() + kLongJump)))) return too_far;
  const auto back = long_jump(to + code.size(), after);
  code.insert(code.end(), back.begin(), back.end());
  return code;
}

std::vector<uint8_t> long_jump(uint64_t from, uint64_t to) {
  std::vector<uint8_t> code{0xe9};
  append_number(code, static_cast<int32_t>(static_cast<int64_t>(to - (from + kLongJump))));
  return code;
}

std::vector<uint8_t> short_jump(uint64_t from, uint64_t to) {
  return {0xeb, static_cast<uint8_t>(to - (from + kShortJump))};
}

std::vector<uint8_t> undo_and_go(const HookPlan& plan, uint64_t to) {
  std::vector<uint8_t> code = plan.undo;
  append(code, {0xff, 0x25, 0, 0, 0, 0});  // jmp [what follows]
  append_number(code, to);
  return code;
}

}  // namespace tarsier::x86
