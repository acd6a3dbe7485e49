// Reads one request out of bytes that come in pieces. Holds memory only for what has come of it: whoever
// waits for a request need not have one of these.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/chunked_body.h"
#include "http/request_head.h"

namespace corral::http {

/// A client sends nearly the same head with every request. The one that it sent last is not parsed again.
struct LastHead {
  static constexpr std::size_t kLongest = 1024;  // a longer one is not worth its memory

  std::string text;                 // empty = none
  std::optional<RequestHead> head;  // what it means; whoever uses it takes it out and puts it back
};

class RequestParser {
 public:
  /// `last` is that of the connection, and stays for longer.
  RequestParser(std::size_t head_cap, std::size_t body_cap, std::shared_ptr<const Peer> peer,
                LastHead* last = nullptr);

  enum class Progress : std::uint8_t {
    More,      // everything was used and more is needed
    Head,      // once, if a body comes behind it: `head` is good, the rest is still to be given
    Complete,  // what was not used belongs to the next request
    Bad,       // see `fault`; where the next request begins is not known
  };
  /// Takes off what it used.
  Progress put(std::string_view& bytes);

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
  std::string begun_;         // the head, if it did not come in one piece
  std::size_t searched_ = 0;  // how much of it is known to be sound lines
  std::size_t empty_lines_ = 0;
  bool in_body_ = false;
  RequestHead head_;
  std::shared_ptr<std::string> body_;
  ChunkedBody chunks_;
  Fault fault_;
};

}  // namespace corral::http
