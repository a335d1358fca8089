// The instructions of one call that is put into a method.
#pragma once

#include <cstdint>
#include <string_view>

#include "classfile/code_layout.h"
#include "classfile/constant_pool.h"
#include "classfile/insert_calls.h"
#include "classfile/method_shape.h"

namespace tarsier::classfile {

struct Method {
  std::string_view name;
  MethodShape shape;
  bool is_static = false;
  std::string_view class_name;  // whose it is
};

// Appends them; the number of stack slots that they need.
Result<uint32_t> write_call(const Insertion& call, const Method& method, const Code& code, ConstantPool& constants,
                            Bytes& out);

}  // namespace tarsier::classfile
