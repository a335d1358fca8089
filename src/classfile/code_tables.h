// What goes with a method's code and speaks of places in it: handlers, line numbers, variables, stack maps.
#pragma once

#include <string_view>

#include "classfile/code_layout.h"

namespace tarsier::classfile {

// Each reads one table and writes it as it is for the new layout.
Status move_exception_table(Reader& in, const NewLayout& layout, Bytes& out);
Status move_line_numbers(Reader& in, const NewLayout& layout, Bytes& out);
Status move_variables(Reader& in, const NewLayout& layout, Bytes& out);
Status move_stack_maps(Reader& in, const NewLayout& layout, Bytes& out);

}  // namespace tarsier::classfile
