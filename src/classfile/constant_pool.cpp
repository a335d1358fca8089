#include "classfile/constant_pool.h"

namespace tarsier::classfile {
namespace {

constexpr uint8_t kUtf8 = 1, kInteger = 3, kLong = 5, kDouble = 6, kClass = 7, kNameAndType = 12;

// What follows the tag; 0: unknown, or it tells itself.
size_t bytes_of(uint8_t tag) {
  switch (tag) {
    case kClass:
    case 8:   // String
    case 16:  // MethodType
    case 19:  // Module
    case 20:  // Package
      return 2;
    case 15:  // MethodHandle
      return 3;
    case kInteger:
    case 4:  // Float
    case ConstantPool::kField:
    case ConstantPool::kMethod:
    case 11:  // InterfaceMethod
    case kNameAndType:
    case 17:  // Dynamic
    case 18:  // InvokeDynamic
      return 4;
    case kLong:
    case kDouble:
      return 8;
    default:
      return 0;
  }
}

std::string with_tag(uint8_t tag, const Bytes& bytes) {
  std::string constant(1, static_cast<char>(tag));
  constant.append(bytes.all().begin(), bytes.all().end());
  return constant;
}

}  // namespace

Result<ConstantPool> ConstantPool::parse(Reader& in) {
  ConstantPool pool;
  pool.count_ = in.u2();
  Reader constants = in;
  while (constants.ok() && pool.constants_.size() < pool.count_) {
    const uint8_t tag = constants.u1();
    const size_t size = tag == kUtf8 ? constants.u2() : bytes_of(tag);
    if (tag != kUtf8 && size == 0) {
      return Error{Errc::kCorrupt, "a constant of unknown kind " + std::to_string(tag)};
    }
    pool.constants_.push_back({tag, constants.take(size)});
    if (tag == kLong || tag == kDouble) pool.constants_.push_back({});
  }
  if (!constants.ok() || pool.constants_.size() != pool.count_) return Error{Errc::kCorrupt, "its constants are cut"};
  pool.original_ = in.take(constants.at() - in.at());
  return pool;
}

std::string_view ConstantPool::utf8(uint16_t index) const {
  if (index >= constants_.size() || constants_[index].tag != kUtf8) return {};
  const auto bytes = constants_[index].bytes;
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string_view ConstantPool::class_name(uint16_t index) const {
  if (index >= constants_.size() || constants_[index].tag != kClass) return {};
  return utf8(Reader(constants_[index].bytes).u2());
}

uint16_t ConstantPool::add(const std::string& constant, uint32_t slots) {
  if (const auto known = added_.find(constant); known != added_.end()) return known->second;
  if (count_ + slots > UINT16_MAX) {
    full_ = true;
    return 0;
  }
  const auto index = static_cast<uint16_t>(count_);
  count_ += slots;
  added_bytes_ += constant;
  added_.emplace(constant, index);
  return index;
}

uint16_t ConstantPool::add_utf8(std::string_view text) {
  Bytes bytes;
  bytes.u2(static_cast<uint32_t>(text.size()));
  bytes.add(text);
  if (text.size() > UINT16_MAX) full_ = true;
  return add(with_tag(kUtf8, bytes), 1);
}

uint16_t ConstantPool::add_class(std::string_view name) {
  Bytes bytes;
  bytes.u2(add_utf8(name));
  return add(with_tag(kClass, bytes), 1);
}

uint16_t ConstantPool::add_integer(int32_t value) {
  Bytes bytes;
  bytes.u4(static_cast<uint32_t>(value));
  return add(with_tag(kInteger, bytes), 1);
}

uint16_t ConstantPool::add_long(int64_t value) {
  Bytes bytes;
  bytes.u4(static_cast<uint32_t>(static_cast<uint64_t>(value) >> 32));
  bytes.u4(static_cast<uint32_t>(value));
  return add(with_tag(kLong, bytes), 2);
}

uint16_t ConstantPool::add_member(uint8_t tag, std::string_view klass, std::string_view name,
                                  std::string_view descriptor) {
  Bytes name_and_type;
  name_and_type.u2(add_utf8(name));
  name_and_type.u2(add_utf8(descriptor));
  Bytes member;
  member.u2(add_class(klass));
  member.u2(add(with_tag(kNameAndType, name_and_type), 1));
  return add(with_tag(tag, member), 1);
}

void ConstantPool::write_to(Bytes& out) const {
  out.u2(count_);
  out.add(original_);
  out.add(added_bytes_);
}

}  // namespace tarsier::classfile
