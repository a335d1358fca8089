#pragma once

#include <zlib.h>

#include <string>

namespace tarsier::exporting {

// What gzip has packed; empty if it is damaged.
inline std::string unpacked(const std::string& packed) {
  z_stream stream{};
  if (::inflateInit2(&stream, MAX_WBITS + 16) != Z_OK) return {};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string out;
  int code = Z_OK;
  while (code == Z_OK) {
    char buffer[4096];
    stream.next_out = reinterpret_cast<Bytef*>(buffer);
    stream.avail_out = sizeof(buffer);
    code = ::inflate(&stream, Z_NO_FLUSH);
    out.append(buffer, sizeof(buffer) - stream.avail_out);
  }
  ::inflateEnd(&stream);
  return code == Z_STREAM_END ? out : std::string();
}

}  // namespace tarsier::exporting
