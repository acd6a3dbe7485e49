#include "http/request_head.h"

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <charconv>
#include <utility>

#include "http/text.h"

// Beast parses the grammar. It also accepts what RFC 9112 tells a server to refuse, or allows it to refuse:
// several equal lengths, an unknown Transfer-Encoding (and then sees no body), any number of Host headers.
// Those are checked here, on the parsed fields.

namespace corral::http {
namespace {

namespace beast = boost::beast;

constexpr std::size_t kMostHeaders = 256;
constexpr std::size_t kUsualHeaders = 12;

std::string text_of(beast::string_view text) { return {text.data(), text.size()}; }

/// Collects the fields of a head. Beast does not read bodies: it is told that there is none.
class HeadReader final : public beast::http::basic_parser<true> {
 public:
  explicit HeadReader(RequestHead& head) : head_(head) {
    skip(true);
    head_.request.headers.reserve(kUsualHeaders);
  }

  /// A header that decides how the rest is read.
  struct Mark {
    std::size_t count = 0;
    std::string_view value;  // of the last
  };
  Mark length;
  Mark encoding;
  Mark host;
  Mark expectation;
  std::string_view target;
  bool too_many = false;

 private:
  using Error = beast::error_code;

  void on_request_impl(beast::http::verb, beast::string_view method, beast::string_view where, int version,
                       Error&) override {
    head_.request.method = text_of(method);
    target = {where.data(), where.size()};
    head_.http_1_0 = version == 10;
  }
  void on_field_impl(beast::http::field field, beast::string_view name, beast::string_view value,
                     Error& error) override {
    if (head_.request.headers.size() >= kMostHeaders) {
      too_many = true;
      error = beast::http::error::header_limit;
      return;
    }
    if (Mark* const mark = mark_of(field)) *mark = {mark->count + 1, {value.data(), value.size()}};
    head_.request.headers.push_back({text_of(name), text_of(value)});
  }
  Mark* mark_of(beast::http::field field) {
    switch (field) {
      case beast::http::field::content_length: return &length;
      case beast::http::field::transfer_encoding: return &encoding;
      case beast::http::field::host: return &host;
      case beast::http::field::expect: return &expectation;
      default: return nullptr;
    }
  }
  void on_header_impl(Error&) override {}
  void on_finish_impl(Error&) override {}

  // Not called: there is no response and no body.
  void on_response_impl(int, beast::string_view, int, Error&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, Error&) override {}
  std::size_t on_body_impl(beast::string_view body, Error&) override { return body.size(); }
  void on_chunk_header_impl(std::uint64_t, beast::string_view, Error&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view body, Error&) override {
    return body.size();
  }

  RequestHead& head_;
};

Fault too_many_headers() {
  return {431, "the request has more than " + std::to_string(kMostHeaders) + " headers: send fewer"};
}

Fault fault_of_grammar(const beast::error_code& code) {
  using beast::http::error;
  switch (static_cast<error>(code.value())) {
    case error::bad_version:
      return {505, "the request line does not end with HTTP/1.1 or HTTP/1.0: no other version is supported"};
    case error::bad_method:
      return {400,
              "the request line does not begin with a method: send for example 'POST /mcp/NAME HTTP/1.1'"};
    case error::bad_target:
      return {400, "the request line has a bad target: percent-encode spaces and control characters"};
    case error::bad_field:
      return {400, "a header has a bad name, or white space before its colon: send 'Name: value'"};
    case error::bad_value: return {400, "a header has a control character in its value: remove it"};
    case error::bad_content_length:
    case error::multiple_content_length:
      return {400,
              "the request's Content-Length is not one decimal number, or was sent with Transfer-Encoding"};
    case error::bad_transfer_encoding:
      return {
          400,
          "the request names its Transfer-Encoding twice, or together with Content-Length: send one of them"};
    case error::bad_line_ending:
      return {400, "a line of the request's head does not end with CR LF: end each line with CR LF"};
    default: return {400, "the request's head is not HTTP/1.1: see RFC 9112"};
  }
}

/// A folded value. RFC 9112 section 5.2 lets servers refuse it: other programs may read it as another header.
bool has_folded_line(std::string_view text) {
  for (std::size_t end = text.find('\n'); end < text.size() - 1; end = text.find('\n', end + 1)) {
    if (text[end + 1] == ' ' || text[end + 1] == '\t') return true;
  }
  return false;
}

/// Why it is unclear where the body ends; empty if it is clear.
std::string_view fault_of_length(const HeadReader& reader, RequestHead& head) {
  if (reader.length.count == 0) return {};
  if (reader.length.count > 1) return "the request has more than one Content-Length: send one";
  const std::string_view value = reader.length.value;
  const char* const end = value.data() + value.size();
  const auto [stopped, error] = std::from_chars(value.data(), end, head.length);
  // For unsigned numbers from_chars accepts only one sign, '-', and wraps.
  if (value.empty() || value.front() == '-' || error != std::errc{} || stopped != end) {
    return "the request's Content-Length is not a decimal number: send the size of its body in bytes";
  }
  return {};
}

Fault check_framing(const HeadReader& reader, RequestHead& head) {
  const std::string_view fault = fault_of_length(reader, head);
  if (!fault.empty()) return {400, std::string(fault)};
  if (reader.encoding.count == 0) return {0, ""};
  if (reader.length.count > 0) {
    return {400, "the request has both Content-Length and Transfer-Encoding: send one of them"};
  }
  if (head.http_1_0) return {400, "HTTP/1.0 has no Transfer-Encoding: send Content-Length, or use HTTP/1.1"};
  if (reader.encoding.count > 1) return {400, "the request has more than one Transfer-Encoding: send one"};
  if (!same_word(reader.encoding.value, "chunked")) {
    return {501, "the request's Transfer-Encoding is not 'chunked': no other is supported"};
  }
  head.chunked = true;
  return {0, ""};
}

Fault check_host(const HeadReader& reader, const RequestHead& head) {
  if (reader.host.count > 1) return {400, "the request has more than one Host: send one"};
  if (reader.host.count == 0 && !head.http_1_0)
    return {400, "the request has no Host, which HTTP/1.1 requires: send one"};
  return {0, ""};
}

Fault check_expectation(const HeadReader& reader, RequestHead& head) {
  if (head.http_1_0 || reader.expectation.count == 0) return {0, ""};
  if (reader.expectation.count > 1 || !same_word(reader.expectation.value, "100-continue")) {
    return {417, "the request expects something other than '100-continue': leave the Expect header out"};
  }
  head.expects_continue = true;
  return {0, ""};
}

/// Splits the target. One with scheme and host, as proxies receive it, is accepted if the host is that of
/// Host.
Fault split_target(std::string_view target, Request& request) {
  constexpr std::string_view kScheme = "http://";
  if (target.size() > kScheme.size() && same_word(target.substr(0, kScheme.size()), kScheme)) {
    target.remove_prefix(kScheme.size());
    const std::size_t end = std::min(target.find_first_of("/?"), target.size());
    if (!same_word(target.substr(0, end), request.header("Host"))) {
      return {400, "the request line names a different host from the Host header: send the path only"};
    }
    target.remove_prefix(end);
    if (target.empty() || target.front() == '?') {
      request.path = "/";
      request.query = target.empty() ? "" : target.substr(1);
      return {0, ""};
    }
  }
  if (target.empty() || target.front() != '/' || target.find('#') != std::string_view::npos) {
    return {400, "the request's target is not a path: it must begin with '/' and must not have a fragment"};
  }
  const std::size_t mark = std::min(target.find('?'), target.size());
  request.path = target.substr(0, mark);
  request.query = target.substr(std::min(target.size(), mark + 1));
  return {0, ""};
}

}  // namespace

std::variant<RequestHead, Fault> parse_request_head(std::string_view text) {
  RequestHead head;
  if (has_folded_line(text)) {
    return Fault{400,
                 "a header continues on a second line, which HTTP no longer allows: send it on one line"};
  }
  HeadReader reader(head);
  reader.header_limit(static_cast<std::uint32_t>(std::min<std::size_t>(text.size() + 1, UINT32_MAX)));
  beast::error_code error;
  const std::size_t used = reader.put({text.data(), text.size()}, error);
  if (error) return reader.too_many ? too_many_headers() : fault_of_grammar(error);
  if (!reader.is_done() || used != text.size()) return Fault{400, "the request's head ends too early"};

  if (Fault fault = check_framing(reader, head); fault.status != 0) return fault;
  if (Fault fault = check_host(reader, head); fault.status != 0) return fault;
  if (Fault fault = check_expectation(reader, head); fault.status != 0) return fault;
  if (Fault fault = split_target(reader.target, head.request); fault.status != 0) return fault;
  head.keep_alive = reader.keep_alive();
  return head;
}

}  // namespace corral::http
