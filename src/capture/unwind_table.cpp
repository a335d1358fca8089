#include "capture/unwind_table.h"

#include <cstring>

namespace tarsier::capture {
namespace {

// Names of the DWARF standard, chapter 6.4, and of the Linux Standard Base for .eh_frame_hdr.
constexpr uint8_t kDataRelativeInt4 = 0x3b, kPcRelativeInt4 = 0x1b, kUnsigned4 = 0x03;
#if defined(__aarch64__)
constexpr uint64_t kSp = 31, kFp = 29, kReturnAddress = 30;
#else
constexpr uint64_t kSp = 7, kFp = 6, kReturnAddress = 16;
#endif

// Reads a record; beyond its end everything is 0, and `good` is false.
struct Cursor {
  const uint8_t* at;
  const uint8_t* end;
  bool good = true;

  template <typename T>
  T fixed() noexcept {
    T value{};
    if (static_cast<size_t>(end - at) < sizeof(T)) {
      good = false;
      at = end;
    } else {
      std::memcpy(&value, at, sizeof(T));
      at += sizeof(T);
    }
    return value;
  }
  uint64_t unsigned_leb() noexcept {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = fixed<uint8_t>();
      value |= uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) return value;
    }
    good = false;
    return 0;
  }
  int64_t signed_leb() noexcept {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 63;) {
      const auto byte = fixed<uint8_t>();
      value |= uint64_t{byte & 0x7fu} << shift;
      shift += 7;
      if ((byte & 0x80) != 0) continue;
      if ((byte & 0x40) != 0 && shift < 64) value |= ~uint64_t{0} << shift;
      return static_cast<int64_t>(value);
    }
    good = false;
    return 0;
  }
  void skip(uint64_t bytes) noexcept {
    good = good && bytes <= static_cast<uint64_t>(end - at);
    at = good ? at + bytes : end;
  }
};

// The part of a record behind its length; empty if that is of the 64-bit kind, which no library needs, or if the record
// lies outside of what may be read.
template <typename Readable>
Cursor record_at(const uint8_t* at, const Readable& readable) noexcept {
  uint32_t length = 0;
  if (!readable.holds(at, sizeof(length))) return {nullptr, nullptr, false};
  std::memcpy(&length, at, sizeof(length));
  at += sizeof(length);
  return {at, length < 0xfffffff0 && readable.holds(at, length) ? at + length : at};
}

struct Common {  // of a common information entry
  uint64_t code_alignment;
  int64_t data_alignment;
  bool has_augmentation;
  Cursor program;
};

bool read_common(Cursor cursor, Common& common) noexcept {
  const auto id = cursor.fixed<uint32_t>();
  const auto version = cursor.fixed<uint8_t>();
  if (id != 0 || (version != 1 && version != 3)) return false;
  const uint8_t* augmentation = cursor.at;
  while (cursor.good && cursor.fixed<uint8_t>() != 0) {
  }
  if (!cursor.good) return false;
  common.code_alignment = cursor.unsigned_leb();
  common.data_alignment = cursor.signed_leb();
  const uint64_t return_register = version == 1 ? cursor.fixed<uint8_t>() : cursor.unsigned_leb();
  common.has_augmentation = *augmentation == 'z';
  if (!common.has_augmentation || return_register != kReturnAddress) return false;
  const uint64_t size = cursor.unsigned_leb();
  Cursor data{cursor.at, cursor.end};
  cursor.skip(size);
  for (++augmentation; *augmentation != 0; ++augmentation) {
    switch (*augmentation) {
      case 'R':  // how addresses are written
        if (data.fixed<uint8_t>() != kPcRelativeInt4) return false;
        break;
      case 'L':  // language data: its encoding
        data.skip(1);
        break;
      case 'P': {  // personality: encoding and pointer
        const unsigned width = data.fixed<uint8_t>() & 0x07u;
        data.skip(width == 3 ? 4 : width == 2 ? 2 : 8);
        break;
      }
      case 'B':  // return addresses are signed with the other key
        break;
      default:  // 'S' is a signal frame, which nobody here returns through
        return false;
    }
  }
  common.program = cursor;
  return cursor.good && data.good;
}

enum class Where : uint8_t { kSame, kSaved, kUnknown, kNowhere };
struct Saved {
  Where where = Where::kSame;
  int64_t offset = 0;
};
struct State {
  uint64_t cfa_register = kSp;
  int64_t cfa_offset = 0;
  bool cfa_known = false;
  Saved fp, ra;

  Saved* of(uint64_t number) noexcept { return number == kFp ? &fp : number == kReturnAddress ? &ra : nullptr; }
};

// Runs instructions until they are about addresses behind `target`. False at what is not understood.
class Interpreter {
 public:
  Interpreter(const Common& common, uint64_t target) noexcept : common_(common), target_(target) {}

  State state;

  bool run(Cursor program, uint64_t address, const State& initial) noexcept {
    while (program.good && program.at < program.end) {
      const auto byte = program.fixed<uint8_t>();
      const uint8_t low = byte & 0x3f;
      uint64_t advance = 0;
      switch (byte >> 6) {
        case 1:
          advance = low;
          break;
        case 2:
          save(low, static_cast<int64_t>(program.unsigned_leb()) * common_.data_alignment);
          break;
        case 3:
          restore(low, initial);
          break;
        default:
          if (!extended(low, program, initial, advance)) return false;
      }
      address += advance * common_.code_alignment;
      if (address > target_) return program.good;
    }
    return program.good;
  }

 private:
  void save(uint64_t number, int64_t offset) noexcept {
    if (Saved* saved = state.of(number)) *saved = {Where::kSaved, offset};
  }
  void restore(uint64_t number, State initial) noexcept {
    if (Saved* saved = state.of(number)) *saved = *initial.of(number);
  }
  void mark(uint64_t number, Where where) noexcept {
    if (Saved* saved = state.of(number)) *saved = {where, 0};
  }
  void define_cfa(uint64_t number, int64_t offset) noexcept {
    state.cfa_register = number;
    state.cfa_offset = offset;
    state.cfa_known = true;
  }

  bool extended(uint8_t code, Cursor& program, const State& initial, uint64_t& advance) noexcept {
    uint64_t number = 0;
    switch (code) {
      case 0x00:  // nop
      case 0x2d:  // the return address is signed from here on, or no longer
        return true;
      case 0x02:
        advance = program.fixed<uint8_t>();
        return true;
      case 0x03:
        advance = program.fixed<uint16_t>();
        return true;
      case 0x04:
        advance = program.fixed<uint32_t>();
        return true;
      case 0x05:  // saved at an offset
        number = program.unsigned_leb();
        save(number, static_cast<int64_t>(program.unsigned_leb()) * common_.data_alignment);
        return true;
      case 0x11:
        number = program.unsigned_leb();
        save(number, program.signed_leb() * common_.data_alignment);
        return true;
      case 0x06:
        restore(program.unsigned_leb(), initial);
        return true;
      case 0x07:  // undefined: this is the outermost function
        mark(program.unsigned_leb(), Where::kNowhere);
        return true;
      case 0x08:
        mark(program.unsigned_leb(), Where::kSame);
        return true;
      case 0x09:  // in another register
      case 0x14:  // not saved, but its value is known: by an unsigned or signed offset
      case 0x15:
        mark(program.unsigned_leb(), Where::kUnknown);
        program.unsigned_leb();
        return true;
      case 0x10:  // by an expression
      case 0x16:
        mark(program.unsigned_leb(), Where::kUnknown);
        program.skip(program.unsigned_leb());
        return true;
      case 0x0a:
        if (remembered_count_ == kMaxRemembered) return false;
        remembered_[remembered_count_++] = state;
        return true;
      case 0x0b:
        if (remembered_count_ == 0) return false;
        state = remembered_[--remembered_count_];
        return true;
      case 0x0c:
        number = program.unsigned_leb();
        define_cfa(number, static_cast<int64_t>(program.unsigned_leb()));
        return true;
      case 0x12:
        number = program.unsigned_leb();
        define_cfa(number, program.signed_leb() * common_.data_alignment);
        return true;
      case 0x0d:
        state.cfa_register = program.unsigned_leb();
        return true;
      case 0x0e:
        state.cfa_offset = static_cast<int64_t>(program.unsigned_leb());
        return true;
      case 0x13:
        state.cfa_offset = program.signed_leb() * common_.data_alignment;
        return true;
      case 0x0f:  // by an expression
        state.cfa_known = false;
        program.skip(program.unsigned_leb());
        return true;
      case 0x2e:  // size of arguments
        program.unsigned_leb();
        return true;
      default:
        return false;
    }
  }

  static constexpr int kMaxRemembered = 4;
  const Common& common_;
  const uint64_t target_;
  State remembered_[kMaxRemembered];
  int remembered_count_ = 0;
};

template <typename T>
T read(const uint8_t* at) noexcept {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

constexpr size_t kHeaderSize = 12, kEntrySize = 8;

// Code that signs return addresses leaves a signature in their upper bits.
uint64_t unsigned_address(uint64_t address) noexcept {
#if defined(__aarch64__)
  return address & 0x0000ffffffffffff;
#else
  return address;
#endif
}

}  // namespace

std::optional<UnwindTable> UnwindTable::open(uint64_t begin, uint64_t end, const uint8_t* header) noexcept {
  return open_within(begin, end, header, {});
}

std::optional<UnwindTable> UnwindTable::open(uint64_t begin, uint64_t end, const uint8_t* header,
                                             std::span<const uint8_t> readable) noexcept {
  const auto from = reinterpret_cast<uint64_t>(readable.data());
  return open_within(begin, end, header, {from, from + readable.size()});
}

std::optional<UnwindTable> UnwindTable::open_within(uint64_t begin, uint64_t end, const uint8_t* header,
                                                    Readable readable) noexcept {
  if (!readable.holds(header, kHeaderSize)) return std::nullopt;
  if (header[0] != 1 || header[1] != kPcRelativeInt4 || header[2] != kUnsigned4 || header[3] != kDataRelativeInt4) {
    return std::nullopt;
  }
  const auto count = read<uint32_t>(header + 8);
  if (!readable.holds(header + kHeaderSize, uint64_t{count} * kEntrySize)) return std::nullopt;
  return UnwindTable(begin, end, header, count, readable);
}

const uint8_t* UnwindTable::find_description(uint64_t pc) const noexcept {
  const auto target = static_cast<int64_t>(pc - reinterpret_cast<uint64_t>(header_));
  const uint8_t* table = header_ + kHeaderSize;
  uint32_t low = 0, high = count_;  // the last entry that begins at or before the target is in [low, high)
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (read<int32_t>(table + middle * kEntrySize) <= target) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low == 0 ? nullptr : header_ + read<int32_t>(table + (low - 1) * kEntrySize + 4);
}

std::optional<UnwindRule> UnwindTable::rule_at(uint64_t pc) const noexcept {
  const uint8_t* description = find_description(pc);
  if (description == nullptr) return std::nullopt;
  Cursor cursor = record_at(description, readable_);
  const uint8_t* id_at = cursor.at;
  const uint8_t* common_at = id_at - cursor.fixed<uint32_t>();
  Common common{};
  if (!cursor.good || !read_common(record_at(common_at, readable_), common)) return std::nullopt;
  const auto begin_at = reinterpret_cast<uint64_t>(cursor.at);
  const uint64_t begin = begin_at + static_cast<uint64_t>(int64_t{cursor.fixed<int32_t>()});
  const auto size = cursor.fixed<uint32_t>();
  if (!cursor.good || pc - begin >= size) return std::nullopt;
  cursor.skip(cursor.unsigned_leb());

  Interpreter interpreter(common, pc);
  if (!interpreter.run(common.program, 0, State())) return std::nullopt;
  const State initial = interpreter.state;
  if (!interpreter.run(cursor, begin, initial)) return std::nullopt;
  const State& state = interpreter.state;
  if (state.ra.where == Where::kNowhere) return UnwindRule{false, 0, false, 0, false, 0, true};
  const bool usable = state.cfa_known && (state.cfa_register == kSp || state.cfa_register == kFp) &&
                      state.ra.where != Where::kUnknown && state.fp.where != Where::kUnknown &&
                      state.fp.where != Where::kNowhere;
  if (!usable) return std::nullopt;
  return UnwindRule{state.cfa_register == kFp,
                    state.cfa_offset,
                    state.ra.where == Where::kSaved,
                    state.ra.offset,
                    state.fp.where == Where::kSaved,
                    state.fp.offset,
                    false};
}

bool leave_native_code(std::span<const UnwindTable> tables, const ucontext_t& context, Registers& registers) noexcept {
  // Nothing that Java calls without a transition is deeper or has larger frames; and what lies so close above sp is the
  // thread's own stack.
  constexpr int kMaxFrames = 16;
  constexpr uint64_t kNear = 8192;
  const uint64_t bottom = registers.sp;
  const auto on_stack = [bottom](uint64_t address) {
    return address >= bottom && address - bottom <= kNear && address % sizeof(uint64_t) == 0;
  };
  for (int depth = 0; depth < kMaxFrames; ++depth) {
    const UnwindTable* table = nullptr;
    for (const UnwindTable& candidate : tables) {
      if (candidate.contains(registers.pc)) table = &candidate;
    }
    if (table == nullptr) return depth > 0;
    // A return address may be the first one behind a function that does not return.
    const auto rule = table->rule_at(registers.pc - (depth > 0 ? 1 : 0));
    if (!rule || rule->outermost) return false;
    const uint64_t cfa = (rule->by_fp ? registers.fp : registers.sp) + static_cast<uint64_t>(rule->cfa_offset);
    if (!on_stack(cfa) || cfa < registers.sp) return false;
    const auto load = [&](int64_t offset, uint64_t& value) {
      const uint64_t address = cfa + static_cast<uint64_t>(offset);
      if (!on_stack(address)) return false;
      value = *reinterpret_cast<const uint64_t*>(address);
      return true;
    };
    Registers caller{0, cfa, registers.fp};
    if (rule->ra_saved) {
      if (!load(rule->ra_offset, caller.pc)) return false;
    } else if (depth > 0 || !Registers::link(context, caller.pc)) {
      return false;
    }
    if (rule->fp_saved && !load(rule->fp_offset, caller.fp)) return false;
    caller.pc = unsigned_address(caller.pc);
    registers = caller;
  }
  return false;
}

}  // namespace tarsier::capture
