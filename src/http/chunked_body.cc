#include "http/chunked_body.h"

#include <algorithm>

namespace corral::http {
namespace {

constexpr int kMostDigits = 15;               // more would overflow, and no body is that large
constexpr std::uint16_t kMostSkipped = 4096;  // of one extension, or of all trailers

int chunk_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

ChunkedBody::Progress ChunkedBody::put(std::string_view& bytes, std::string& body, std::size_t cap) {
  while (!bytes.empty()) {
    Progress progress = Progress::More;
    if (at_ == At::Data) {
      progress = put_data(bytes, body, cap);
    } else {
      const char c = bytes.front();
      bytes.remove_prefix(1);
      progress = put_char(c, body.size(), cap);
    }
    if (progress != Progress::More) return progress;
  }
  return Progress::More;
}

ChunkedBody::Progress ChunkedBody::put_data(std::string_view& bytes, std::string& body, std::size_t cap) {
  const std::size_t size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
  if (body.size() + size > cap) return Progress::TooLarge;
  body.append(bytes.substr(0, size));
  bytes.remove_prefix(size);
  left_ -= size;
  if (left_ == 0) at_ = At::DataReturn;
  return Progress::More;
}

ChunkedBody::Progress ChunkedBody::put_char(char c, std::size_t held, std::size_t cap) {
  const auto expect = [&](char wanted, At next) {
    at_ = next;
    return c == wanted ? Progress::More : Progress::Bad;
  };
  switch (at_) {
    case At::Size: return put_size(c) ? Progress::More : Progress::Bad;
    case At::Extension:
      if (c == '\r') return expect('\r', At::SizeEnd);
      return skip_char(c) ? Progress::More : Progress::Bad;
    case At::SizeEnd:
      digits_ = 0;
      skipped_ = 0;
      if (left_ > cap || held > cap - left_) return Progress::TooLarge;
      return expect('\n', left_ == 0 ? At::LineBegin : At::Data);
    case At::DataReturn: return expect('\r', At::DataEnd);
    case At::DataEnd: return expect('\n', At::Size);
    case At::LineBegin:
      if (c == '\r') return expect('\r', At::LastEnd);
      at_ = At::Trailer;
      return skip_char(c) ? Progress::More : Progress::Bad;
    case At::Trailer:
      if (c == '\r') return expect('\r', At::TrailerEnd);
      return skip_char(c) ? Progress::More : Progress::Bad;
    case At::TrailerEnd: return expect('\n', At::LineBegin);
    case At::LastEnd: return c == '\n' ? Progress::Done : Progress::Bad;
    case At::Data: break;
  }
  return Progress::Bad;
}

/// Only digits, then the end of the line or an extension: other programs read "0x5", "+5" and "5 " in two
/// ways.
bool ChunkedBody::put_size(char c) {
  if (const int digit = chunk_digit(c); digit >= 0) {
    left_ = left_ * 16 + static_cast<std::uint64_t>(digit);
    return ++digits_ <= kMostDigits;
  }
  if (digits_ == 0) return false;
  if (c == '\r') {
    at_ = At::SizeEnd;
    return true;
  }
  at_ = At::Extension;
  return c == ';';
}

bool ChunkedBody::skip_char(char c) {
  const bool control = (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == '\x7f';
  return !control && ++skipped_ <= kMostSkipped;
}

}  // namespace corral::http
