// Calls of static methods put into a class file: where a method begins, and where it returns.
//
// The class may be anything: whatever is not as it should be, or not understood, is an error, and the class has to stay
// as it is. What is not concerned is copied as it was; constants keep their numbers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace tarsier::classfile {

// What is passed. References are passed as java.lang.Object; boolean, byte, char and short as int.
struct Argument {
  enum class Kind : uint8_t {
    kResult,     // what the method returns; only at a return, only the first
    kThis,       // of methods that are not static
    kParameter,  // `value`: which one, from 0 on
    kInt,        // `value` itself
    kLong,
    kField,  // of this, with its `name` and `descriptor`
    kCall,   // what this method of this returns, which has no parameters; `descriptor`: of what it returns
  };
  Kind kind{};
  int64_t value = 0;
  std::string name{}, descriptor{};
};

enum class Place : uint8_t {
  kEntry,   // once, before anything else
  kReturn,  // before each return; not when the method ends by an exception
};

struct Insertion {
  // Into all methods with that name and descriptor; without a descriptor, with that name.
  std::string method, descriptor{};
  Place place{};
  // The static method that is called. It returns nothing; its descriptor follows from the arguments.
  std::string callee_class, callee;
  std::vector<Argument> arguments;
};

struct InsertedCalls {
  std::vector<uint8_t> bytes;
  std::vector<size_t> methods;  // by insertion: into how many methods it was put
};

[[nodiscard]] Result<InsertedCalls> insert_calls(std::span<const uint8_t> class_file,
                                                 std::span<const Insertion> insertions);

}  // namespace tarsier::classfile
