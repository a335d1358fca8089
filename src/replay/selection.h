// Which of many fragments to keep for a test: few that differ much.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tarsier::replay {

struct Candidate {
  std::string result;  // its stack as text
  size_t cost = 0;     // bytes that it takes to keep
};

// Positions of at most `most` of them, ascending.
std::vector<size_t> select(const std::vector<Candidate>& candidates, size_t most);

}  // namespace tarsier::replay
