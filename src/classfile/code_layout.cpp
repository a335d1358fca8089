#include "classfile/code_layout.h"

#include <string>

namespace tarsier::classfile {
namespace {

constexpr uint32_t kNowhere = UINT32_MAX;

}  // namespace

Result<Code> Code::parse(std::span<const uint8_t> code) {
  if (code.empty() || code.size() > kLongestCode) return Error{Errc::kCorrupt, "its code has no possible length"};
  Code parsed;
  parsed.bytes_ = code;
  parsed.index_.assign(code.size() + 1, 0);
  for (size_t pc = 0; pc < code.size();) {
    const Instruction instruction = instruction_at(code, pc);
    if (instruction.size == 0) return Error{Errc::kCorrupt, "there is no instruction at " + std::to_string(pc)};
    parsed.instructions_.push_back({static_cast<uint32_t>(pc), instruction});
    parsed.index_[pc] = static_cast<uint32_t>(parsed.instructions_.size());
    pc += instruction.size;
  }
  return parsed;
}

const Instruction* Code::at(uint32_t pc) const {
  return pc < index_.size() && index_[pc] != 0 ? &instructions_[index_[pc] - 1].instruction : nullptr;
}

NewLayout::NewLayout(const Code& code, std::span<const uint8_t> at_entry, std::span<const uint8_t> at_return)
    : code_(code), at_entry_(at_entry), at_return_(at_return), places_(code.bytes().size() + 1, kNowhere) {
  size_t place = at_entry.size();
  for (const auto& [pc, instruction] : code.instructions()) {
    places_[pc] = static_cast<uint32_t>(place);
    if (instruction.is_return()) place += at_return.size();
    const bool is_switch = instruction.jump == Jump::kTableSwitch || instruction.jump == Jump::kLookupSwitch;
    place += instruction.size;
    if (is_switch) place = place - switch_padding(pc) + switch_padding(place - instruction.size);
  }
  places_.back() = static_cast<uint32_t>(place);
}

Result<uint32_t> NewLayout::place_of(uint32_t pc) const {
  if (pc >= places_.size() || places_[pc] == kNowhere) {
    return Error{Errc::kCorrupt, "no instruction begins at " + std::to_string(pc)};
  }
  return places_[pc];
}

Result<int64_t> NewLayout::distance(const Code::At& from, int64_t old_distance, size_t from_place) const {
  const int64_t target = int64_t{from.pc} + old_distance;
  if (target < 0 || target >= static_cast<int64_t>(code_.bytes().size())) {
    return Error{Errc::kCorrupt, "a jump out of the code at " + std::to_string(from.pc)};
  }
  const auto place = place_of(static_cast<uint32_t>(target));
  if (!place) return place.error();
  return int64_t{*place} - static_cast<int64_t>(from_place);
}

Result<std::vector<uint8_t>> NewLayout::write() const {
  if (places_.back() > kLongestCode) return Error{Errc::kUnsupported, "its code would be too long"};
  Bytes out;
  out.add(at_entry_);
  for (const Code::At& at : code_.instructions()) {
    if (at.instruction.is_return()) out.add(at_return_);
    Status status;
    switch (at.instruction.jump) {
      case Jump::kNone:
        out.add(code_.bytes().subspan(at.pc, at.instruction.size));
        break;
      case Jump::kShort:
      case Jump::kLong:
        status = write_jump(at, out);
        break;
      case Jump::kTableSwitch:
      case Jump::kLookupSwitch:
        status = write_switch(at, out);
        break;
    }
    if (!status) return std::move(status).error();
  }
  return std::move(out).all();
}

Status NewLayout::write_jump(const Code::At& from, Bytes& out) const {
  Reader in(code_.bytes().subspan(from.pc + 1));
  const bool is_short = from.instruction.jump == Jump::kShort;
  const int64_t old = is_short ? static_cast<int16_t>(in.u2()) : static_cast<int32_t>(in.u4());
  const auto now = distance(from, old, out.size());
  if (!now) return now.error();
  if (is_short && (*now < INT16_MIN || *now > INT16_MAX)) {
    return Error{Errc::kUnsupported, "a jump would be too far"};
  }
  out.u1(from.instruction.opcode);
  is_short ? out.u2(static_cast<uint32_t>(*now)) : out.u4(static_cast<uint32_t>(*now));
  return {};
}

Status NewLayout::write_switch(const Code::At& from, Bytes& out) const {
  Reader in(code_.bytes().subspan(from.pc, from.instruction.size));
  (void)in.take(1 + switch_padding(from.pc));
  const size_t place = out.size();
  const auto copy_distance = [&]() -> Status {
    const auto now = distance(from, static_cast<int32_t>(in.u4()), place);
    if (!now) return now.error();
    out.u4(static_cast<uint32_t>(*now));
    return {};
  };
  out.u1(from.instruction.opcode);
  for (size_t i = 0; i < switch_padding(place); ++i) out.u1(0);
  if (Status status = copy_distance(); !status) return status;
  const bool is_table = from.instruction.jump == Jump::kTableSwitch;
  // Of a table its lowest and highest case, of a list the number of cases.
  out.u4(in.u4());
  if (is_table) out.u4(in.u4());
  while (!in.at_end()) {
    if (!is_table) out.u4(in.u4());
    if (Status status = copy_distance(); !status) return status;
  }
  return {};
}

}  // namespace tarsier::classfile
