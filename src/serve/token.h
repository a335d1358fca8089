// What makes the address of a served recording one that nobody can guess.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace tarsier::serve {

// 128 bits from the kernel, as 32 hexadecimal digits.
Result<std::string> random_token();

// Takes as long for a wrong one as for one that is nearly right: how long an answer takes tells nothing.
bool same_token(std::string_view given, std::string_view token);

}  // namespace tarsier::serve
