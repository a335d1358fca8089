// Numbers as people read them, the same in every text of ours.
#pragma once

#include <cstdint>
#include <string>

#include "base/units.h"

namespace tarsier::analysis {

std::string words_of_time(Nanos time);         // 350 ms, 12.4 s, 12 min 30 s, 3 h 5 min
std::string words_of_bytes(Bytes amount);      // 350 bytes, 12.4 MB
std::string words_of_share(double share);      // 34.1 %; <0.1 % for what is there but rounds to nothing
std::string words_of_count(uint64_t count);    // 58,123
std::string fixed(double number, int digits);  // 1.94

}  // namespace tarsier::analysis
