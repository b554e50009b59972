// Owns the way into zlib and libsnappy, and nothing else of them.
#include "agent/uplink/compression.hpp"

#include <algorithm>
#include <limits>
#include <new>

#include <snappy.h>
#include <zlib.h>

namespace nvstripe::uplink {
namespace {

constexpr int kWindowBits = 15, kGzip = 16, kMemoryLevel = 8;

class Deflation {
 public:
  // With constant settings only memory can be missing, and that is told as everywhere else.
  Deflation() {
    if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kWindowBits + kGzip, kMemoryLevel, Z_DEFAULT_STRATEGY) !=
        Z_OK)
      throw std::bad_alloc();
  }
  Deflation(const Deflation&) = delete;
  Deflation& operator=(const Deflation&) = delete;
  ~Deflation() { deflateEnd(&stream_); }

  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
};

}  // namespace

std::string gzip(std::string_view text) {
  constexpr std::size_t kChunk = std::numeric_limits<uInt>::max();  // zlib counts what it is given in 32 bits
  Deflation deflation;
  z_stream& stream = deflation.stream();
  std::string out(deflateBound(&stream, text.size()), '\0');
  std::size_t read = 0, written = 0;
  for (int state = Z_OK; state != Z_STREAM_END;) {
    if (written == out.size()) out.resize(out.size() * 2);
    const std::size_t offered = std::min(text.size() - read, kChunk), room = std::min(out.size() - written, kChunk);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data() + read));
    stream.avail_in = static_cast<uInt>(offered);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + written);
    stream.avail_out = static_cast<uInt>(room);
    state = deflate(&stream, read + offered == text.size() ? Z_FINISH : Z_NO_FLUSH);
    read += offered - stream.avail_in;
    written += room - stream.avail_out;
  }
  out.resize(written);
  return out;
}

std::string snappy_block(std::string_view text) {
  std::string out;
  snappy::Compress(text.data(), text.size(), &out);
  return out;
}

}  // namespace nvstripe::uplink
