// The bytes of an HTTP client: the same requests or the same refusal however they are cut, within the caps,
// and nothing in a request that could be read as two.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "http/request_parser.h"

namespace {

using namespace corral::http;

constexpr std::size_t kHeadCap = 1024;
constexpr std::size_t kBodyCap = 600;

void check(const RequestHead& head) {
  const Request& request = head.request;
  if (!request.path.starts_with('/') || request.method.empty()) abort();
  if (request.body->size() > kBodyCap) abort();
  if (!head.chunked && request.body->size() != head.length) abort();
  if (request.count("Host") > 1 || (request.count("Host") == 0 && !head.http_1_0)) abort();
  if (request.count("Content-Length") + request.count("Transfer-Encoding") > 1) abort();
  if (head.chunked != (request.count("Transfer-Encoding") == 1)) abort();
  std::string all = request.method + request.path + request.query;
  for (const Header& header : request.headers) {
    if (header.name.empty() || header.name.find_first_of(" \t:") != std::string::npos) abort();
    all += header.name + header.value;
  }
  if (std::ranges::any_of(all, [](char c) { return c == '\r' || c == '\n' || c == '\0'; })) abort();
  query_value(request.query, "root");
}

/// What came out, as text. The first byte says how the rest is cut.
std::string parse(std::string_view bytes, std::size_t piece, unsigned growth) {
  std::string out;
  std::optional<RequestParser> parser;
  while (!bytes.empty()) {
    if (!parser) parser.emplace(kHeadCap, kBodyCap, nullptr);
    std::string_view some = bytes.substr(0, piece);
    const std::size_t given = some.size();
    const auto progress = parser->put(some);
    bytes.remove_prefix(given - some.size());
    piece = piece * growth % 97 + 1;
    switch (progress) {
      case RequestParser::Progress::More:
        if (!some.empty()) abort();
        break;
      case RequestParser::Progress::Head:
        if (!parser->in_body()) abort();
        break;
      case RequestParser::Progress::Complete: {
        const RequestHead head = parser->take();
        check(head);
        out += head.request.method + " " + head.request.path + "?" + head.request.query + "\n";
        for (const Header& header : head.request.headers) out += header.name + ":" + header.value + "\n";
        out += *head.request.body + "\n";
        parser.reset();
        break;
      }
      case RequestParser::Progress::Bad:
        if (parser->fault().status < 400 || parser->fault().sentence.empty()) abort();
        return out + std::to_string(parser->fault().status);
    }
  }
  return out + "more";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::string whole = parse(bytes, bytes.size(), 0);
  if (whole != parse(bytes, 1, 0) || whole != parse(bytes, data[0] % 64 + 1, data[0] / 16)) abort();
  return 0;
}
