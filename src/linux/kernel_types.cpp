#include "linux/kernel_types.h"

#include <linux/btf.h>

#include <cstring>
#include <fstream>
#include <iterator>

namespace tarsier::linux {
namespace {

constexpr const char* kKernel = "/sys/kernel/btf/vmlinux";

uint32_t kind_of(uint32_t info) {
  return info >> 24 & 0x1f;
}

// Of what follows a type; nothing if this kind is not known.
std::optional<size_t> body_size(uint32_t info) {
  constexpr uint32_t kDeclTag = 17, kTypeTag = 18, kEnum64 = 19;  // younger than the headers of Debian 12
  const size_t count = info & 0xffff;
  switch (kind_of(info)) {
    case BTF_KIND_INT:
    case BTF_KIND_VAR:
    case kDeclTag:
      return 4;
    case BTF_KIND_ARRAY:
      return 12;
    case BTF_KIND_STRUCT:
    case BTF_KIND_UNION:
    case BTF_KIND_DATASEC:
    case kEnum64:
      return 12 * count;
    case BTF_KIND_ENUM:
    case BTF_KIND_FUNC_PROTO:
      return 8 * count;
    case BTF_KIND_PTR:
    case BTF_KIND_FWD:
    case BTF_KIND_TYPEDEF:
    case BTF_KIND_VOLATILE:
    case BTF_KIND_CONST:
    case BTF_KIND_RESTRICT:
    case BTF_KIND_FUNC:
    case BTF_KIND_FLOAT:
    case kTypeTag:
      return 0;
    default:
      return std::nullopt;
  }
}

}  // namespace

Result<KernelTypes> KernelTypes::of_kernel() {
  std::ifstream file(kKernel, std::ios::binary);
  if (!file)
    return Error{Errc::kUnsupported, "this kernel does not describe its types (no " + std::string(kKernel) + ")"};
  return parse({std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
}

Result<KernelTypes> KernelTypes::parse(std::vector<uint8_t> bytes) {
  const Error bad{Errc::kCorrupt, "the kernel's description of its types is not understood"};
  btf_header header{};
  if (bytes.size() < sizeof(header)) return bad;
  std::memcpy(&header, bytes.data(), sizeof(header));
  const uint64_t begin = uint64_t{header.hdr_len} + header.type_off, end = begin + header.type_len;
  const uint64_t strings = uint64_t{header.hdr_len} + header.str_off;
  if (header.magic != BTF_MAGIC || header.version != 1 || end > bytes.size() ||
      strings + header.str_len > bytes.size()) {
    return bad;
  }
  KernelTypes types(std::move(bytes));
  types.strings_ = std::span<const uint8_t>(types.bytes_).subspan(strings, header.str_len);
  types.types_.emplace_back();
  constexpr size_t kTypeSize = 12;
  for (size_t at = begin; at + kTypeSize <= end;) {
    Type type{types.word(at), types.word(at + 4), types.word(at + 8), at + kTypeSize};
    const auto size = body_size(type.info);
    if (!size || *size > end - type.body) return bad;
    at = type.body + *size;
    types.types_.push_back(type);
  }
  return types;
}

uint32_t KernelTypes::word(size_t at) const {
  uint32_t value = 0;
  if (at + sizeof(value) <= bytes_.size()) std::memcpy(&value, bytes_.data() + at, sizeof(value));
  return value;
}

std::string_view KernelTypes::text(uint32_t offset) const {
  if (offset >= strings_.size()) return {};
  const auto* begin = reinterpret_cast<const char*>(strings_.data()) + offset;
  return {begin, ::strnlen(begin, strings_.size() - offset)};
}

std::optional<KernelTypes::Member> KernelTypes::member(std::string_view structure, std::string_view name) const {
  for (const Type& type : types_) {
    if (kind_of(type.info) == BTF_KIND_STRUCT && text(type.name) == structure) return member(type, name, 0);
  }
  return std::nullopt;
}

std::optional<KernelTypes::Member> KernelTypes::member(const Type& structure, std::string_view name, int depth) const {
  constexpr int kDeepest = 8;
  const size_t count = structure.info & 0xffff;
  const bool with_bit_sizes = structure.info >> 31 != 0;
  for (size_t i = 0; i < count && depth < kDeepest; ++i) {
    const size_t at = structure.body + 12 * i;
    const uint32_t type = word(at + 4), place = word(at + 8);
    const uint32_t bits = with_bit_sizes ? place & 0xffffff : place;
    const bool is_bit_field = with_bit_sizes && place >> 24 != 0;
    const std::string_view called = text(word(at));
    if (called == name) {
      if (is_bit_field || bits % 8 != 0) return std::nullopt;
      return Member{bits / 8, size_of(type)};
    }
    if (!called.empty() || type >= types_.size()) continue;
    const uint32_t kind = kind_of(types_[type].info);
    if (kind != BTF_KIND_STRUCT && kind != BTF_KIND_UNION) continue;
    if (auto inner = member(types_[type], name, depth + 1)) {
      inner->offset += bits / 8;
      return inner;
    }
  }
  return std::nullopt;
}

std::optional<uint32_t> KernelTypes::variable(std::string_view section, std::string_view name) const {
  for (const Type& type : types_) {
    if (kind_of(type.info) != BTF_KIND_DATASEC || text(type.name) != section) continue;
    const size_t count = type.info & 0xffff;
    for (size_t i = 0; i < count; ++i) {
      const size_t at = type.body + 12 * i;
      const uint32_t variable = word(at);
      if (variable < types_.size() && text(types_[variable].name) == name) return word(at + 4);
    }
  }
  return std::nullopt;
}

uint32_t KernelTypes::size_of(uint32_t type) const {
  constexpr int kLongest = 32;  // a chain of names for the same
  for (int i = 0; i < kLongest && type < types_.size(); ++i) {
    switch (kind_of(types_[type].info)) {
      case BTF_KIND_INT:
      case BTF_KIND_ENUM:
        return types_[type].size_or_type;
      case BTF_KIND_PTR:
        return sizeof(void*);
      case BTF_KIND_TYPEDEF:
      case BTF_KIND_CONST:
      case BTF_KIND_VOLATILE:
        type = types_[type].size_or_type;
        break;
      default:
        return 0;
    }
  }
  return 0;
}

}  // namespace tarsier::linux
