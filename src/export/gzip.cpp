#include "export/gzip.h"

#include <algorithm>
#include <array>

namespace tarsier::exporting {

GzipStream::GzipStream(std::ostream& out) : out_(out), stream_(new z_stream{}) {
  constexpr int kGzip = 16;  // added to the window's bits: gzip's header, not zlib's
  constexpr int kMemoryLevel = 8;
  good_ = ::deflateInit2(stream_.get(), Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzip, kMemoryLevel,
                         Z_DEFAULT_STRATEGY) == Z_OK;
}

void GzipStream::deflate(std::string_view bytes, int flush) {
  constexpr size_t kPiece = 1 << 30;  // zlib counts in 32 bits
  std::array<char, 1 << 15> buffer;
  do {
    const std::string_view piece = bytes.substr(0, kPiece);
    bytes.remove_prefix(piece.size());
    stream_->next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(piece.data()));  // zlib does not write there
    stream_->avail_in = static_cast<uInt>(piece.size());
    bool full = true;
    while (good_ && full) {
      stream_->next_out = reinterpret_cast<Bytef*>(buffer.data());
      stream_->avail_out = static_cast<uInt>(buffer.size());
      good_ = ::deflate(stream_.get(), flush) != Z_STREAM_ERROR;
      out_.write(buffer.data(), static_cast<std::streamsize>(buffer.size() - stream_->avail_out));
      good_ = good_ && out_.good();
      full = stream_->avail_out == 0;
    }
  } while (good_ && !bytes.empty());
}

bool GzipStream::finish() {
  deflate({}, Z_FINISH);
  out_.flush();
  return good_ && out_.good();
}

}  // namespace tarsier::exporting
