#include "http/response_head.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "wire/json_text.h"

namespace corral::http {
namespace {

std::string_view reason_of(int status) {
  switch (status) {
    case 100: return "Continue";
    case 200: return "OK";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 410: return "Gone";
    case 413: return "Content Too Large";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    case 505: return "HTTP Version Not Supported";
    default: return "";  // the space before it stays
  }
}

void append_clean(std::string& out, std::string_view text) {
  const auto begin = static_cast<std::ptrdiff_t>(out.size());
  out.append(text);
  std::replace_if(
      out.begin() + begin, out.end(), [](char c) { return c == '\r' || c == '\n' || c == '\0'; }, ' ');
}

}  // namespace

bool may_have_body(int status) { return status >= 200 && status != 204 && status != 304; }

std::string response_head(int status, const Headers& headers, Framing framing, Afterwards afterwards) {
  std::string out;
  out.reserve(256);
  if (status == 200) {
    out.append("HTTP/1.1 200 OK\r\n");
  } else {
    out.append("HTTP/1.1 ")
        .append(std::to_string(status))
        .append(" ")
        .append(reason_of(status))
        .append("\r\n");
  }
  for (const Header& header : headers) {
    append_clean(out, header.name);
    out.append(": ");
    append_clean(out, header.value);
    out.append("\r\n");
  }
  if (framing.kind == Framing::Kind::Length) {
    out.append("Content-Length: ").append(std::to_string(framing.length)).append("\r\n");
  } else if (framing.kind == Framing::Kind::Chunked) {
    out.append("Transfer-Encoding: chunked\r\n");
  }
  if (afterwards == Afterwards::Closes) {
    out.append("Connection: close\r\n");
  } else if (afterwards == Afterwards::StaysOpenAsRequested) {
    out.append("Connection: keep-alive\r\n");
  }
  return out.append("\r\n");
}

std::string chunk_head(std::size_t size) {
  std::array<char, 2 * sizeof size> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), size, 16).ptr;
  return std::string(digits.data(), end).append("\r\n");
}

Response error_response(int status, std::string_view sentence) {
  return {status,
          {{"Content-Type", "application/json"}},
          "{\"error\":" + wire::quoted(sentence) + "}\n",
          nullptr};
}

void Exchange::reply_json(const wire::Line& line, const wire::Edit& edit) {
  reply({200, {{"Content-Type", "application/json"}}, wire::edited(line.text, {&edit, 1}), nullptr});
}

}  // namespace corral::http
