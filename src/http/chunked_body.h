// Decodes a chunked body as it arrives. Strict: extensions and trailers are checked for their ends and
// dropped, within limits. Holds no bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace corral::http {

class ChunkedBody {
 public:
  /// Bad: not a chunked body. TooLarge: beyond `cap`. After these, nothing more may be put.
  enum class Progress : std::uint8_t { More, Done, Bad, TooLarge };

  /// Removes what it used from `bytes`, and appends what belongs to the body. `cap` is the limit of the whole
  /// body.
  Progress put(std::string_view& bytes, std::string& body, std::size_t cap);

 private:
  enum class At : std::uint8_t {
    Size,       // its digits
    Extension,  // after them
    SizeEnd,    // the '\n' of its line
    Data,
    DataReturn,  // the '\r' after the data
    DataEnd,
    LineBegin,  // of a trailer, or of the end
    Trailer,
    TrailerEnd,
    LastEnd,
  };

  Progress put_data(std::string_view& bytes, std::string& body, std::size_t cap);
  Progress put_char(char c, std::size_t held, std::size_t cap);
  bool put_size(char c);
  bool skip_char(char c);

  At at_ = At::Size;
  std::uint16_t skipped_ = 0;  // bytes of this size line, or of all trailers
  std::uint8_t digits_ = 0;
  std::uint64_t left_ = 0;  // of this chunk
};

}  // namespace corral::http
