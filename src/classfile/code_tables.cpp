#include "classfile/code_tables.h"

#include <string>

namespace tarsier::classfile {
namespace {

Error cut(const char* what) {
  return {Errc::kCorrupt, std::string(what) + " are cut"};
}

Status put(const Result<uint32_t>& place, Bytes& out) {
  if (!place) return place.error();
  out.u2(*place);
  return {};
}

}  // namespace

Status move_exception_table(Reader& in, const NewLayout& layout, Bytes& out) {
  const uint16_t count = in.u2();
  out.u2(count);
  for (int i = 0; i < count && in.ok(); ++i) {
    for (int field = 0; field < 3; ++field) {  // begin, end, handler
      if (Status status = put(layout.place_of(in.u2()), out); !status) return status;
    }
    out.u2(in.u2());
  }
  return in.ok() ? Status() : cut("its handlers");
}

Status move_line_numbers(Reader& in, const NewLayout& layout, Bytes& out) {
  const uint16_t count = in.u2();
  out.u2(count);
  for (int i = 0; i < count && in.ok(); ++i) {
    if (Status status = put(layout.begin_of(in.u2()), out); !status) return status;
    out.u2(in.u2());
  }
  return in.ok() ? Status() : cut("its line numbers");
}

Status move_variables(Reader& in, const NewLayout& layout, Bytes& out) {
  const uint16_t count = in.u2();
  out.u2(count);
  for (int i = 0; i < count && in.ok(); ++i) {
    const uint32_t old_begin = in.u2();
    const auto begin = layout.begin_of(old_begin);
    const auto end = layout.place_of(old_begin + in.u2());
    if (!begin) return begin.error();
    if (!end) return end.error();
    out.u2(*begin);
    out.u2(*end - *begin);
    out.add(in.take(6));  // name, descriptor, index
  }
  return in.ok() ? Status() : cut("its variables");
}

namespace {

Status move_type(Reader& in, const NewLayout& layout, Bytes& out) {
  constexpr uint8_t kObject = 7, kNotInitialized = 8;
  const uint8_t tag = in.u1();
  out.u1(tag);
  if (tag == kObject) {
    out.u2(in.u2());
  } else if (tag == kNotInitialized) {
    const uint16_t pc = in.u2();
    const Instruction* made_by = layout.code().at(pc);
    if (made_by == nullptr || !made_by->is_new()) return Error{Errc::kCorrupt, "an object is made by no instruction"};
    return put(layout.place_of(pc), out);
  } else if (tag > kNotInitialized) {
    return Error{Errc::kCorrupt, "a variable of unknown kind"};
  }
  return {};
}

Status move_types(uint32_t count, Reader& in, const NewLayout& layout, Bytes& out) {
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    if (Status status = move_type(in, layout, out); !status) return status;
  }
  return {};
}

// Each frame says how far it lies behind the one before, less one, and the first one from the beginning.
class FrameMover {
 public:
  FrameMover(Reader& in, const NewLayout& layout, Bytes& out) : in_(in), layout_(layout), out_(out) {}

  Status move_one() {
    constexpr uint8_t kSame = 0, kSameOneOnStack = 64, kReserved = 128, kSameOneFar = 247, kSameFar = 251,
                      kAppendAll = 254, kFull = 255;
    const uint8_t kind = in_.u1();
    if (kind >= kReserved && kind < kSameOneFar) return Error{Errc::kCorrupt, "a stack map of unknown kind"};
    const uint32_t short_distance = kind < kSameOneOnStack ? kind : kind - kSameOneOnStack;
    const auto distance = new_distance(kind < kReserved ? short_distance : in_.u2());
    if (!distance) return distance.error();
    if (kind < kSameOneOnStack || kind == kSameFar) {
      begin_frame(kSame, kSameFar, *distance);
      return {};
    }
    if (kind < kReserved || kind == kSameOneFar) {
      begin_frame(kSameOneOnStack, kSameOneFar, *distance);
      return move_type(in_, layout_, out_);
    }
    out_.u1(kind);
    out_.u2(*distance);
    if (kind < kSameFar) return {};  // it has some variables less
    if (kind <= kAppendAll) return move_types(kind - kSameFar, in_, layout_, out_);
    static_assert(kFull > kAppendAll);
    for (int i = 0; i < 2; ++i) {  // variables, stack
      const uint16_t count = in_.u2();
      out_.u2(count);
      if (Status status = move_types(count, in_, layout_, out_); !status) return status;
    }
    return {};
  }

 private:
  [[nodiscard]] Result<uint32_t> new_distance(uint32_t old_distance) {
    last_pc_ += old_distance + 1;
    const auto place = layout_.place_of(static_cast<uint32_t>(last_pc_));
    if (!place) return place.error();
    const auto distance = static_cast<uint32_t>(*place - last_place_ - 1);
    last_place_ = *place;
    return distance;
  }
  void begin_frame(uint8_t short_kind, uint8_t far_kind, uint32_t distance) {
    constexpr uint32_t kShort = 64;
    if (distance < kShort) {
      out_.u1(short_kind + distance);
    } else {
      out_.u1(far_kind);
      out_.u2(distance);
    }
  }

  Reader& in_;
  const NewLayout& layout_;
  Bytes& out_;
  int64_t last_pc_ = -1, last_place_ = -1;
};

}  // namespace

Status move_stack_maps(Reader& in, const NewLayout& layout, Bytes& out) {
  const uint16_t count = in.u2();
  out.u2(count);
  FrameMover mover(in, layout, out);
  for (int i = 0; i < count && in.ok(); ++i) {
    if (Status status = mover.move_one(); !status) return status;
  }
  return in.ok() ? Status() : cut("its stack maps");
}

}  // namespace tarsier::classfile
