#include "classfile/insert_calls.h"

#include <algorithm>

#include "classfile/call_code.h"
#include "classfile/code_tables.h"

namespace tarsier::classfile {
namespace {

Error cut() {
  return {Errc::kCorrupt, "it is cut"};
}

struct Attribute {
  std::string_view name;
  uint16_t name_index = 0;
  std::span<const uint8_t> bytes;
};

Attribute take_attribute(Reader& in, const ConstantPool& constants) {
  Attribute attribute;
  attribute.name_index = in.u2();
  attribute.name = constants.utf8(attribute.name_index);
  attribute.bytes = in.take(in.u4());
  return attribute;
}

void write_attribute(uint16_t name_index, std::span<const uint8_t> bytes, Bytes& out) {
  out.u2(name_index);
  out.u4(static_cast<uint32_t>(bytes.size()));
  out.add(bytes);
}

// Of code: those that speak of places in it.
struct Table {
  std::string_view name;
  Status (*move)(Reader&, const NewLayout&, Bytes&);
};
constexpr Table kTables[] = {{"LineNumberTable", move_line_numbers},
                             {"LocalVariableTable", move_variables},
                             {"LocalVariableTypeTable", move_variables},
                             {"StackMapTable", move_stack_maps}};
// They do, too, and nobody can ask for them at run time.
constexpr std::string_view kLeftOut[] = {"RuntimeVisibleTypeAnnotations", "RuntimeInvisibleTypeAnnotations"};

class ClassRewriter {
 public:
  ClassRewriter(std::span<const uint8_t> class_file, std::span<const Insertion> insertions)
      : in_(class_file), insertions_(insertions), methods_(insertions.size(), 0) {}

  Result<InsertedCalls> rewrite() {
    constexpr uint32_t kMagic = 0xcafebabe;
    if (in_.u4() != kMagic) return Error{Errc::kCorrupt, "it is no class file"};
    const uint16_t minor = in_.u2(), major = in_.u2();
    auto constants = ConstantPool::parse(in_);
    if (!constants) return std::move(constants).error();
    constants_ = std::move(*constants);

    out_.u2(in_.u2());  // access
    const uint16_t this_class = in_.u2();
    class_name_ = constants_.class_name(this_class);
    if (class_name_.empty()) return Error{Errc::kCorrupt, "it has no name"};
    out_.u2(this_class);
    out_.u2(in_.u2());  // the class above
    const uint16_t interfaces = in_.u2();
    out_.u2(interfaces);
    out_.add(in_.take(size_t{interfaces} * 2));
    if (Status status = members(false); !status) return std::move(status).error();
    if (Status status = members(true); !status) return std::move(status).error();
    copy_attributes(in_, out_);
    if (!in_.ok()) return cut();
    if (!in_.at_end()) return Error{Errc::kCorrupt, "something follows it"};
    if (constants_.is_full()) return Error{Errc::kUnsupported, "it has too many constants"};

    Bytes whole;
    whole.u4(kMagic);
    whole.u2(minor);
    whole.u2(major);
    constants_.write_to(whole);
    whole.add(out_.all());
    return InsertedCalls{std::move(whole).all(), std::move(methods_)};
  }

 private:
  void copy_attributes(Reader& in, Bytes& out) {
    const uint16_t count = in.u2();
    out.u2(count);
    for (int i = 0; i < count && in.ok(); ++i) {
      const Attribute attribute = take_attribute(in, constants_);
      write_attribute(attribute.name_index, attribute.bytes, out);
    }
  }

  Status members(bool are_methods) {
    const uint16_t count = in_.u2();
    out_.u2(count);
    for (int i = 0; i < count && in_.ok(); ++i) {
      const uint16_t access = in_.u2(), name = in_.u2(), descriptor = in_.u2();
      out_.u2(access);
      out_.u2(name);
      out_.u2(descriptor);
      if (!are_methods || !is_wanted(name, descriptor)) {
        copy_attributes(in_, out_);
      } else if (Status status = method(access, name, descriptor); !status) {
        return status;
      }
    }
    return in_.ok() ? Status() : cut();
  }

  [[nodiscard]] bool is_for(const Insertion& insertion, uint16_t name, uint16_t descriptor) const {
    return insertion.method == constants_.utf8(name) &&
           (insertion.descriptor.empty() || insertion.descriptor == constants_.utf8(descriptor));
  }
  [[nodiscard]] bool is_wanted(uint16_t name, uint16_t descriptor) const {
    return std::any_of(insertions_.begin(), insertions_.end(),
                       [&](const Insertion& insertion) { return is_for(insertion, name, descriptor); });
  }

  Status method(uint16_t access, uint16_t name, uint16_t descriptor) {
    constexpr uint16_t kStatic = 8;
    Method method{constants_.utf8(name), {}, (access & kStatic) != 0, class_name_};
    auto shape = method_shape(constants_.utf8(descriptor), method.is_static);
    if (!shape) return Error{Errc::kCorrupt, "a method without a shape"};
    method.shape = std::move(*shape);
    const uint16_t count = in_.u2();
    out_.u2(count);
    for (int i = 0; i < count && in_.ok(); ++i) {
      const Attribute attribute = take_attribute(in_, constants_);
      if (attribute.name != "Code") {
        write_attribute(attribute.name_index, attribute.bytes, out_);
        continue;
      }
      Bytes code;
      if (Status status = rewrite_code(attribute.bytes, method, name, descriptor, code); !status) {
        return std::move(status).error().in(std::string(method.name));
      }
      write_attribute(attribute.name_index, code.all(), out_);
    }
    return {};
  }

  Status rewrite_code(std::span<const uint8_t> bytes, const Method& method, uint16_t name, uint16_t descriptor,
                      Bytes& out) {
    Reader in(bytes);
    const uint32_t max_stack = in.u2();
    const uint16_t max_locals = in.u2();
    const auto code = Code::parse(in.take(in.u4()));
    if (!in.ok()) return cut();
    if (!code) return code.error();

    Bytes at_entry, at_return;
    uint32_t more_stack = 0;
    for (size_t i = 0; i < insertions_.size(); ++i) {
      const Insertion& insertion = insertions_[i];
      if (!is_for(insertion, name, descriptor)) continue;
      const auto slots =
          write_call(insertion, method, *code, constants_, insertion.place == Place::kEntry ? at_entry : at_return);
      if (!slots) return slots.error();
      more_stack = std::max(more_stack, *slots);
      ++methods_[i];
    }
    if (max_stack + more_stack > UINT16_MAX) return Error{Errc::kUnsupported, "its stack would be too large"};
    const NewLayout layout(*code, at_entry.all(), at_return.all());
    const auto written = layout.write();
    if (!written) return written.error();
    out.u2(max_stack + more_stack);
    out.u2(max_locals);
    out.u4(static_cast<uint32_t>(written->size()));
    out.add(*written);
    if (Status status = move_exception_table(in, layout, out); !status) return status;
    return code_attributes(in, layout, out);
  }

  Status code_attributes(Reader& in, const NewLayout& layout, Bytes& out) {
    const uint16_t count = in.u2();
    Bytes kept;
    uint32_t kept_count = 0;
    for (int i = 0; i < count && in.ok(); ++i) {
      const Attribute attribute = take_attribute(in, constants_);
      if (std::find(std::begin(kLeftOut), std::end(kLeftOut), attribute.name) != std::end(kLeftOut)) continue;
      const auto* table = std::find_if(std::begin(kTables), std::end(kTables),
                                       [&](const Table& one) { return one.name == attribute.name; });
      if (table == std::end(kTables)) {
        return Error{Errc::kUnsupported, "its code has an attribute that is not known"};
      }
      Reader old(attribute.bytes);
      Bytes moved;
      if (Status status = table->move(old, layout, moved); !status) return status;
      if (!old.at_end()) return Error{Errc::kCorrupt, "a table is longer than it says"};
      write_attribute(attribute.name_index, moved.all(), kept);
      ++kept_count;
    }
    if (!in.ok()) return cut();
    if (!in.at_end()) return Error{Errc::kCorrupt, "something follows its code"};
    out.u2(kept_count);
    out.add(kept.all());
    return {};
  }

  Reader in_;
  const std::span<const Insertion> insertions_;
  ConstantPool constants_;
  std::string_view class_name_;
  Bytes out_;  // what comes after the constants
  std::vector<size_t> methods_;
};

}  // namespace

Result<InsertedCalls> insert_calls(std::span<const uint8_t> class_file, std::span<const Insertion> insertions) {
  return ClassRewriter(class_file, insertions).rewrite();
}

}  // namespace tarsier::classfile
