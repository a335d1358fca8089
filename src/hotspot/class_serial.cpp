#include "hotspot/class_serial.h"

#include <algorithm>

namespace tarsier::hotspot {

ClassSerial ClassSerial::find(const VmStructs& structs) {
  ClassSerial serial;
  const auto loader = structs.offset("Klass", "_class_loader_data");
  const auto size = structs.size_of("Klass");
  constexpr uint64_t kMostBytes = 256;
  if (!loader || !size || *loader + 8 >= *size || *size - *loader > kMostBytes) return serial;
  serial.begin_ = (*loader + 15) / 8 * 8;
  serial.end_ = *size / 8 * 8;
  serial.words_.resize((serial.end_ - serial.begin_) / 8);
  return serial;
}

void ClassSerial::learn(const Memory& memory, Address klass) {
  if (words_.empty() || !seen_.insert(klass).second) return;
  std::vector<uint64_t> words(words_.size());
  if (!memory.copy(words.data(), klass + begin_, words.size() * sizeof(uint64_t))) return;
  for (size_t i = 0; i < words.size(); ++i) words_[i].push_back(words[i]);
  if (words_[0].size() == kEnough) decide();
}

void ClassSerial::decide() {
  constexpr uint64_t kFlagBits = 16, kMostClasses = 1 << 26;
  std::vector<uint64_t> candidates;
  for (size_t i = 0; i < words_.size(); ++i) {
    std::vector<uint64_t>& numbers = words_[i];
    for (uint64_t& number : numbers) number >>= kFlagBits;
    std::sort(numbers.begin(), numbers.end());
    const bool differ = std::adjacent_find(numbers.begin(), numbers.end()) == numbers.end();
    if (differ && numbers.front() > 0 && numbers.back() < kMostClasses) candidates.push_back(begin_ + 8 * i);
  }
  if (candidates.size() == 1) offset_ = candidates[0] + kFlagBits / 8;
  words_.clear();
  seen_.clear();
}

}  // namespace tarsier::hotspot
