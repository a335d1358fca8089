// An output stream over a descriptor: exports may be bigger than one would like to hold in memory.
#pragma once

#include <streambuf>
#include <string>

#include "base/result.h"

namespace tarsier::cli {

class FdBuffer : public std::streambuf {
 public:
  explicit FdBuffer(int fd) : fd_(fd) {}  // borrowed
  Status finish();                        // writes what is left; the first error of all writes

 protected:
  int overflow(int c) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;

 private:
  bool flush_if(size_t at_least);
  int fd_;
  std::string pending_;
  int error_ = 0;
};

}  // namespace tarsier::cli
