#include "classfile/call_code.h"

#include <algorithm>

namespace tarsier::classfile {
namespace {

constexpr uint8_t kBipush = 16, kSipush = 17, kLdcW = 19, kLdc2W = 20, kLoad = 21, kAload = 25, kDup = 89, kDup2 = 92,
                  kGetField = 180, kInvokeVirtual = 182, kInvokeStatic = 184, kWide = 196;

const char* passed_as(ValueKind kind) {
  constexpr const char* kTypes[] = {"I", "J", "F", "D", "Ljava/lang/Object;"};
  return kTypes[static_cast<size_t>(kind)];
}

class CallWriter {
 public:
  CallWriter(const Insertion& call, const Method& method, const Code& code, ConstantPool& constants, Bytes& out)
      : call_(call), method_(method), code_(code), constants_(constants), out_(out) {}

  Result<uint32_t> write() {
    for (const Argument& argument : call_.arguments) {
      const auto kind = push(argument);
      if (!kind) return kind.error();
      descriptor_ += passed_as(*kind);
      slots_ += slots_of(*kind);
    }
    out_.u1(kInvokeStatic);
    out_.u2(constants_.add_member(ConstantPool::kMethod, call_.callee_class, call_.callee, descriptor_ + ")V"));
    return slots_;
  }

 private:
  [[nodiscard]] Error refused(const char* why) const {
    return {Errc::kUnsupported, std::string(method_.name) + ": " + why};
  }

  Result<ValueKind> push(const Argument& argument) {
    switch (argument.kind) {
      case Argument::Kind::kResult:
        return push_result();
      case Argument::Kind::kThis:
        return push_this();
      case Argument::Kind::kParameter:
        return push_parameter(argument.value);
      case Argument::Kind::kInt:
        push_int(static_cast<int32_t>(argument.value));
        return ValueKind::kInt;
      case Argument::Kind::kLong:
        out_.u1(kLdc2W);
        out_.u2(constants_.add_long(argument.value));
        return ValueKind::kLong;
      case Argument::Kind::kField:
        return push_of_this(kGetField, ConstantPool::kField, argument.name, argument.descriptor, argument.descriptor);
      case Argument::Kind::kCall:
        return push_of_this(kInvokeVirtual, ConstantPool::kMethod, argument.name, "()" + argument.descriptor,
                            argument.descriptor);
    }
    return refused("an argument of unknown kind");
  }

  Result<ValueKind> push_result() {
    const ValueKind kind = method_.shape.result;
    if (call_.place != Place::kReturn || !descriptor_is_empty()) return refused("its result is not at hand");
    if (kind == ValueKind::kNothing) return refused("it returns nothing");
    out_.u1(slots_of(kind) == 2 ? kDup2 : kDup);
    return kind;
  }
  Result<ValueKind> push_this() {
    if (method_.is_static) return refused("it is static");
    if (method_.name == "<init>" && call_.place == Place::kEntry) return refused("the object is not there yet");
    if (changes(0, 1)) return refused("it changes its first variable");
    load(kAload, 0);
    return ValueKind::kReference;
  }
  Result<ValueKind> push_parameter(int64_t number) {
    const auto& parameters = method_.shape.parameters;
    if (number < 0 || number >= std::ssize(parameters)) return refused("it has not so many parameters");
    const Parameter& parameter = parameters[static_cast<size_t>(number)];
    const bool kept = call_.place == Place::kEntry || !changes(parameter.variable, slots_of(parameter.kind));
    if (!kept) return refused("it changes its parameter");
    load(static_cast<uint8_t>(kLoad + static_cast<uint8_t>(parameter.kind)), parameter.variable);
    return parameter.kind;
  }
  Result<ValueKind> push_of_this(uint8_t opcode, uint8_t tag, std::string_view name, std::string_view descriptor,
                                 std::string_view type) {
    const auto kind = value_kind(type);
    if (!kind) return refused("a member of unknown type");
    if (const auto self = push_this(); !self) return self.error();
    out_.u1(opcode);
    out_.u2(constants_.add_member(tag, method_.class_name, name, descriptor));
    return *kind;
  }
  void push_int(int32_t value) {
    if (value >= INT8_MIN && value <= INT8_MAX) {
      out_.u1(kBipush);
      out_.u1(static_cast<uint32_t>(value));
    } else if (value >= INT16_MIN && value <= INT16_MAX) {
      out_.u1(kSipush);
      out_.u2(static_cast<uint32_t>(value));
    } else {
      out_.u1(kLdcW);
      out_.u2(constants_.add_integer(value));
    }
  }
  void load(uint8_t opcode, uint16_t variable) {
    if (variable > UINT8_MAX) {
      out_.u1(kWide);
      out_.u1(opcode);
      out_.u2(variable);
    } else {
      out_.u1(opcode);
      out_.u1(variable);
    }
  }
  [[nodiscard]] bool descriptor_is_empty() const { return descriptor_.size() == 1; }
  // Javac does so to parameters, never to `this`.
  [[nodiscard]] bool changes(uint32_t variable, uint32_t slots) const {
    return std::any_of(code_.instructions().begin(), code_.instructions().end(), [&](const Code::At& at) {
      const Instruction& one = at.instruction;
      return one.stores > 0 && one.stores_to < variable + slots && variable < uint32_t{one.stores_to} + one.stores;
    });
  }

  const Insertion& call_;
  const Method& method_;
  const Code& code_;
  ConstantPool& constants_;
  Bytes& out_;
  std::string descriptor_ = "(";
  uint32_t slots_ = 0;
};

}  // namespace

Result<uint32_t> write_call(const Insertion& call, const Method& method, const Code& code, ConstantPool& constants,
                            Bytes& out) {
  return CallWriter(call, method, code, constants, out).write();
}

}  // namespace tarsier::classfile
