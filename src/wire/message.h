// One JSON-RPC message: its text, and where its fields are. It is scanned once, when it arrives or when it
// has been composed, and is handed on as one thing from there.
//
// A message copies no byte of the text. It refers to the text of its line, which somebody else owns:
//  - If `line().owner` is set, the message keeps the text alive, and so does every copy of the message.
//  - Otherwise the text belongs to the caller that made the message (the buffer of a reader, a string on the
//    stack) and is valid only until that caller goes on. A receiver that keeps the message for longer keeps
//    `owned()` instead.
//
// Every text that an accessor returns lies in the text of the line, except that of `method()`, which may lie
// in the message itself: it is valid as long as this object is, and is not valid after the object was moved
// from. A field that is not there gives an empty text; no JSON value is empty. Nothing here allocates, except
// `owned()` and the copy of a message whose method was written with escapes.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "wire/envelope.h"
#include "wire/line_reader.h"

namespace corral::wire {

class Message {
 public:
  /// No text at all, and of the kind NotJson.
  Message() = default;
  /// Scans the line.
  explicit Message(Line line) : line_(std::move(line)), where_(scan(line_.text)) {}
  /// The same for a text without an owner.
  explicit Message(std::string_view text) : Message(Line{text, nullptr}) {}
  /// For a line that was scanned already, or whose text is the same as one that was.
  Message(Line line, Envelope where) : line_(std::move(line)), where_(std::move(where)) {}

  /// The same message, with an owner that holds little else. Its text is copied if it has none, or if it is a
  /// small part of what its owner holds. Scans nothing.
  Message owned() const;

  const Line& line() const { return line_; }
  std::string_view text() const { return line_.text; }
  /// The places of the fields in the text, for edits.
  const Envelope& where() const { return where_; }

  Kind kind() const { return where_.kind; }
  /// What is wrong with it, for people, and at which byte; see Envelope.
  const char* fault() const { return where_.fault; }
  std::size_t fault_at() const { return where_.fault_at; }
  /// Whether a receiver that ignores case may read another message; see Envelope.
  bool lookalike() const { return where_.lookalike; }
  bool lookalike_request_id() const { return where_.lookalike_request_id; }

  /// Decoded, if it was written with escapes. All other texts are JSON, as they were written.
  std::string_view method() const { return method_name(where_, line_.text); }
  std::string_view id() const { return at(where_.id); }
  std::string_view params() const { return at(where_.params); }
  std::string_view result() const { return at(where_.result); }
  std::string_view error() const { return at(where_.error); }

  /// Inside params and its `_meta`; Envelope says which member each of them is.
  std::string_view meta() const { return at(where_.meta); }
  std::string_view progress_token() const { return at(where_.progress_token); }
  std::string_view protocol_version() const { return at(where_.protocol_version); }
  std::string_view subscription_id() const { return at(where_.subscription_id); }
  std::string_view log_level() const { return at(where_.log_level); }
  std::string_view direct_token() const { return at(where_.direct_token); }
  std::string_view request_id() const { return at(where_.request_id); }

  bool has_id() const { return where_.id.present(); }
  bool has_params() const { return where_.params.present(); }
  bool has_result() const { return where_.result.present(); }
  bool has_error() const { return where_.error.present(); }
  bool has_meta() const { return where_.meta.present(); }
  bool has_progress_token() const { return where_.progress_token.present(); }
  bool has_protocol_version() const { return where_.protocol_version.present(); }
  bool has_subscription_id() const { return where_.subscription_id.present(); }
  bool has_log_level() const { return where_.log_level.present(); }
  bool has_direct_token() const { return where_.direct_token.present(); }
  bool has_request_id() const { return where_.request_id.present(); }

 private:
  std::string_view at(Span span) const { return span.in(line_.text); }

  Line line_;
  Envelope where_;
};

inline Message Message::owned() const {
  // A message of a batch must not keep all of the batch. What a kept message costs is counted by its text, so
  // its buffer may not be much larger.
  const bool mostly_ours =
      line_.owner && line_.owner->capacity() <= line_.text.size() + line_.text.size() / 8;
  if (mostly_ours) return *this;
  auto copy = std::make_shared<const std::string>(line_.text);
  const std::string_view text = *copy;
  return {Line{text, std::move(copy)}, where_};
}

}  // namespace corral::wire
