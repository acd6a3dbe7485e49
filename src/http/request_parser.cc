#include "http/request_parser.h"

#include <algorithm>
#include <utility>

namespace corral::http {
namespace {

// The room for a body grows with what has arrived: announcing a large one takes no memory.
constexpr std::size_t kFirstRoom = std::size_t{256} << 10;
constexpr std::size_t kMoreRoom = 8;
// Some clients send a line end after a body. RFC 9112 section 2.2: empty lines before a request are ignored.
constexpr std::size_t kMostEmptyLines = 8;
constexpr char kTlsHandshake = 0x16;

struct HeadEnd {
  enum class Kind : std::uint8_t { NotYet, Found, BareLineFeed } kind = Kind::NotYet;
  std::size_t at = 0;  // after the empty line; for NotYet: where to continue
};

/// Reads each line once. `from` is where a line begins.
HeadEnd find_head_end(std::string_view text, std::size_t from) {
  std::size_t line = from;
  for (std::size_t end = text.find('\n', from); end != std::string_view::npos; end = text.find('\n', line)) {
    if (end == line || text[end - 1] != '\r') return {HeadEnd::Kind::BareLineFeed, end};
    if (end == line + 1) return {HeadEnd::Kind::Found, end + 1};
    line = end + 1;
  }
  return {HeadEnd::Kind::NotYet, line};
}

std::size_t leading_empty_lines(std::string_view text) {
  std::size_t at = 0;
  while (text.substr(at, 2) == "\r\n") at += 2;
  return at;
}

const std::shared_ptr<std::string>& no_body() {
  static const auto empty = std::make_shared<std::string>();
  return empty;
}

}  // namespace

RequestParser::RequestParser(std::size_t head_cap, std::size_t body_cap, std::shared_ptr<const Peer> peer,
                             LastHead* last)
    : head_cap_(head_cap), body_cap_(body_cap), last_(last), body_(no_body()) {
  head_.request.peer = std::move(peer);
}

RequestParser::Progress RequestParser::put(std::string_view& bytes) {
  if (!fault_.sentence.empty()) return Progress::Bad;
  return in_body_ ? put_body(bytes) : put_head(bytes);
}

RequestParser::Progress RequestParser::put_head(std::string_view& bytes) {
  const bool in_pieces = !begun_.empty();
  if (in_pieces) begun_.append(bytes);
  const std::size_t empty = leading_empty_lines(in_pieces ? begun_ : bytes);
  empty_lines_ += empty / 2;
  if (in_pieces) {
    begun_.erase(0, empty);
  } else {
    bytes.remove_prefix(empty);
  }
  if (empty_lines_ > kMostEmptyLines) return fail(400, "the client sent only empty lines: send a request");
  const std::string_view text = in_pieces ? std::string_view(begun_) : bytes;
  if (text.starts_with(kTlsHandshake)) {
    return fail(400, "this is TLS, but this port serves plain HTTP: use http:// in the URL");
  }

  const HeadEnd end = find_head_end(text, searched_);
  if (end.kind == HeadEnd::Kind::BareLineFeed) {
    return fail(400, "a line of the request's head ends with LF alone: end each of them with CR LF");
  }
  const bool found = end.kind == HeadEnd::Kind::Found;
  if ((found ? end.at : text.size()) > head_cap_) {
    return fail(431, "the request's head is longer than " + std::to_string(head_cap_) +
                         " bytes: send fewer or shorter headers, or a shorter URL");
  }
  if (found) {
    const std::size_t behind = text.size() - end.at;
    bytes.remove_prefix(bytes.size() - behind);
    return parse_head(text.substr(0, end.at));
  }
  searched_ = end.at;
  if (!in_pieces) begun_ = bytes;
  bytes = {};
  return Progress::More;
}

RequestParser::Progress RequestParser::parse_head(std::string_view text) {
  auto peer = std::move(head_.request.peer);
  if (!know_head(text)) {
    auto parsed = parse_request_head(text);
    if (auto* const fault = std::get_if<Fault>(&parsed))
      return fail(fault->status, std::move(fault->sentence));
    head_ = std::get<RequestHead>(std::move(parsed));
  }
  begun_ = {};
  head_.request.peer = std::move(peer);
  if (!head_.has_body()) return Progress::Complete;
  if (head_.length > body_cap_) return fail_large();
  in_body_ = true;
  body_ = std::make_shared<std::string>();
  return Progress::Head;
}

/// Equal bytes have the same meaning. If they differ, the new ones are remembered from now on.
bool RequestParser::know_head(std::string_view text) {
  if (last_ == nullptr) return false;
  if (last_->head && last_->text == text) {
    head_ = *std::exchange(last_->head, std::nullopt);
    return true;
  }
  last_->head.reset();
  last_->text = text.size() <= LastHead::kLongest ? text : "";
  return false;
}

RequestParser::Progress RequestParser::put_body(std::string_view& bytes) {
  if (head_.chunked) return put_chunks(bytes);
  const std::size_t wanted = static_cast<std::size_t>(head_.length);
  if (body_->capacity() < wanted) {
    body_->reserve(std::min(wanted, std::max(kFirstRoom, kMoreRoom * (body_->size() + bytes.size()))));
  }
  const std::string_view mine = bytes.substr(0, wanted - body_->size());
  body_->append(mine);
  bytes.remove_prefix(mine.size());
  return body_->size() == wanted ? Progress::Complete : Progress::More;
}

RequestParser::Progress RequestParser::put_chunks(std::string_view& bytes) {
  switch (chunks_.put(bytes, *body_, body_cap_)) {
    case ChunkedBody::Progress::More: return Progress::More;
    case ChunkedBody::Progress::Done: return Progress::Complete;
    case ChunkedBody::Progress::TooLarge: return fail_large();
    case ChunkedBody::Progress::Bad: break;
  }
  return fail(400,
              "the request's chunks do not follow RFC 9112 section 7.1: check their sizes and line ends");
}

RequestParser::Progress RequestParser::fail_large() {
  return fail(
      413, "the request's body is larger than " + std::to_string(body_cap_) + " bytes: send a smaller one");
}

RequestParser::Progress RequestParser::fail(int status, std::string sentence) {
  fault_ = {status, std::move(sentence)};
  return Progress::Bad;
}

RequestHead RequestParser::take() {
  head_.request.body = std::move(body_);
  return std::move(head_);
}

}  // namespace corral::http
