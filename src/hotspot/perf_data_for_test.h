// hsperfdata made by hand.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace tarsier::hotspot {

// Builds hsperfdata as a JVM of either byte order does.
class PerfDataBuilder {
 public:
  explicit PerfDataBuilder(bool little_endian) : little_endian_(little_endian), bytes_(32) {
    bytes_[0] = 0xca, bytes_[1] = 0xfe, bytes_[2] = 0xc0, bytes_[3] = 0xc0;
    bytes_[4] = little_endian ? 1 : 0;
    bytes_[5] = 2;
    bytes_[7] = 1;
    put(24, 32);
  }
  PerfDataBuilder& string(const std::string& name, const std::string& value) {
    entry(name, 'B', static_cast<uint32_t>(value.size() + 1), value + '\0');
    return *this;
  }
  // Of the machine's own byte order.
  PerfDataBuilder& number(const std::string& name, int64_t value = 0x0101010101010101) {
    entry(name, 'J', 0, std::string(reinterpret_cast<const char*>(&value), sizeof(value)));
    return *this;
  }
  std::vector<uint8_t> bytes() const { return bytes_; }
  void put(size_t at, uint32_t value) {
    for (size_t i = 0; i < 4; ++i) {
      bytes_[at + i] = static_cast<uint8_t>(value >> (little_endian_ ? 8 * i : 24 - 8 * i));
    }
  }

 private:
  void entry(const std::string& name, char type, uint32_t vector_length, const std::string& data) {
    const size_t start = bytes_.size();
    const size_t data_at = (20 + name.size() + 1 + 7) / 8 * 8;
    bytes_.resize(start + (data_at + data.size() + 7) / 8 * 8);
    put(start, static_cast<uint32_t>(bytes_.size() - start));
    put(start + 4, 20);
    put(start + 8, vector_length);
    bytes_[start + 12] = static_cast<uint8_t>(type);
    put(start + 16, static_cast<uint32_t>(data_at));
    std::copy(name.begin(), name.end(), bytes_.begin() + static_cast<long>(start + 20));
    std::copy(data.begin(), data.end(), bytes_.begin() + static_cast<long>(start + data_at));
    put(28, ++entries_);
    put(8, static_cast<uint32_t>(bytes_.size()));
  }
  bool little_endian_;
  uint32_t entries_ = 0;
  std::vector<uint8_t> bytes_;
};

}  // namespace tarsier::hotspot
