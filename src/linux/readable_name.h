// What a compiler calls a function, as people write it.
#pragma once

#include <string>
#include <string_view>

namespace tarsier::linux {

// "_ZN9JavaCalls4callEP9JavaValue" -> "JavaCalls::call": without arguments and result. Whatever the text is, the answer
// has at most 512 bytes, and takes no memory or time that it could ask for; what is not understood stays as it is.
std::string readable_name(std::string_view name);

}  // namespace tarsier::linux
