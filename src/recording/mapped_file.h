// A file in memory that may be cut shorter by somebody while we look at it: reading behind its new end gives zeros, not
// SIGBUS. While at least one MappedFile exists the process has our SIGBUS handler, which minds nothing but their
// ranges.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"

namespace tarsier::recording {

class MappedFile {
 public:
  static Result<MappedFile> open(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  MappedFile(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] std::span<const uint8_t> bytes() const { return {data_, size_}; }
  // True once a part of it was gone when it was read.
  [[nodiscard]] bool was_cut() const;
  // Gives the pages of [begin, end) back; reading there again loads them again.
  void forget(size_t begin, size_t end) const;

 private:
  MappedFile(const uint8_t* data, size_t size, int slot) : data_(data), size_(size), slot_(slot) {}
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
  int slot_ = -1;  // in the handler's table
};

}  // namespace tarsier::recording
