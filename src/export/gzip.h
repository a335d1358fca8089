// Compresses on the way to a stream, with a fixed header (no time, no name): equal input gives equal bytes.
#pragma once

#include <zlib.h>

#include <memory>
#include <ostream>
#include <string_view>

namespace tarsier::exporting {

class GzipStream {
 public:
  explicit GzipStream(std::ostream& out);
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;

  void write(std::string_view bytes) { deflate(bytes, Z_NO_FLUSH); }
  // Writes what is left. False if memory or the stream gave out, now or before.
  bool finish();

 private:
  void deflate(std::string_view bytes, int flush);

  struct End {
    void operator()(z_stream* stream) const {
      ::deflateEnd(stream);
      delete stream;
    }
  };
  std::ostream& out_;
  std::unique_ptr<z_stream, End> stream_;
  bool good_ = false;
};

}  // namespace tarsier::exporting
