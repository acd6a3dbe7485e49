// Reads one request from bytes that arrive in pieces. Holds memory only for what has arrived; a connection
// that waits for a request needs no parser.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/chunked_body.h"
#include "http/request_head.h"

namespace corral::http {

/// A client often sends the same head with every request. The last one is not parsed again.
struct LastHead {
  static constexpr std::size_t kLongest = 1024;  // a longer one is not worth its memory

  std::string text;                 // empty = none
  std::optional<RequestHead> head;  // its meaning; a user takes it out and puts it back
};

class RequestParser {
 public:
  /// `last` belongs to the connection and must outlive the parser. The caps are in bytes.
  RequestParser(std::size_t head_cap, std::size_t body_cap, std::shared_ptr<const Peer> peer,
                LastHead* last = nullptr);

  enum class Progress : std::uint8_t {
    More,      // everything was used and more is needed
    Head,      // once, if a body follows: `head` is valid, and the rest must still be put
    Complete,  // what was not used belongs to the next request
    Bad,       // see `fault`; where the next request begins is not known
  };
  /// Removes what it used from `bytes`. Not to be called after Complete or Bad.
  Progress put(std::string_view& bytes);

  /// Valid after Head.
  const RequestHead& head() const { return head_; }
  bool in_body() const { return in_body_; }
  std::size_t body_bytes() const { return body_->size(); }
  const Fault& fault() const { return fault_; }
  /// After Complete.
  RequestHead take();

 private:
  Progress put_head(std::string_view& bytes);
  Progress put_body(std::string_view& bytes);
  Progress put_chunks(std::string_view& bytes);
  Progress parse_head(std::string_view text);
  bool know_head(std::string_view text);
  Progress fail_large();
  Progress fail(int status, std::string sentence);

  std::size_t head_cap_;
  std::size_t body_cap_;
  LastHead* last_;
  std::string begun_;         // the head, if it did not arrive in one piece
  std::size_t searched_ = 0;  // how much of it was checked already
  std::size_t empty_lines_ = 0;
  bool in_body_ = false;
  RequestHead head_;
  std::shared_ptr<std::string> body_;
  ChunkedBody chunks_;
  Fault fault_;
};

}  // namespace corral::http
