#include "wire/json_text.h"

#include <array>

#include "wire/cursor.h"
#include "wire/text_blocks.h"

namespace corral::wire {

namespace {

struct Found {
  Span key;  // with quotes
  Span value;
};

/// Returns the last of several members with this key, as nearly every parser does.
Found find(std::string_view object, std::string_view key) {
  Cursor in(object);
  in.skip_space();
  if (in.peek() != '{') return {};
  Found found;
  const bool read = in.members([&](const StringBody& name) {
    const std::size_t begin = in.position();
    if (!in.value(1)) return false;
    if (same_key(name, object, key)) {
      found = {{name.span.begin - 1, name.span.end + 1}, {begin, in.position()}};
    }
    return true;
  });
  return read ? found : Found{};
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

void append_control(std::string& out, char c) {
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  const std::array<char, 6> escape = {'\\',
                                      'u',
                                      '0',
                                      '0',
                                      kDigits[static_cast<std::size_t>(c >> 4)],
                                      kDigits[static_cast<std::size_t>(c & 15)]};
  out.append(escape.data(), escape.size());
}

std::string_view or_null(std::string_view id) { return id.empty() ? "null" : id; }

std::size_t after_space(std::string_view text, std::size_t at) {
  Cursor in(text.substr(at));
  in.skip_space();
  return at + in.position();
}

char byte_at(std::string_view text, std::size_t at) { return at < text.size() ? text[at] : '\0'; }

}  // namespace

std::string quoted(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  out.push_back('"');
  const char* at = text.data();
  const char* const end = at + text.size();
  for (;;) {
    const char* const odd = plain_end(at, end);
    out.append(at, odd);
    at = odd;
    if (at == end) break;
    if (static_cast<unsigned char>(*at) < 0x80) {
      append_control(out, *at++);
    } else if (const std::size_t length = utf8_length(at, end); length != 0) {
      out.append(at, length);
      at += length;
    } else {
      out += "\xEF\xBF\xBD";
      ++at;
    }
  }
  out.push_back('"');
  return out;
}

Span member(std::string_view object, std::string_view key) { return find(object, key).value; }

std::string_view member_text(std::string_view object, std::string_view key) {
  return member(object, key).in(object);
}

Span member_with_comma(std::string_view object, std::string_view key) {
  const Found found = find(object, key);
  if (!found.value.present()) return {};
  std::size_t behind = found.value.end;
  while (is_space(object[behind])) ++behind;  // stops at the closing brace at the latest
  if (object[behind] == ',') return {found.key.begin, behind + 1};
  std::size_t before = found.key.begin;
  while (is_space(object[before - 1])) --before;  // stops at the opening brace at the latest
  if (object[before - 1] == ',') return {before - 1, found.value.end};
  return {found.key.begin, found.value.end};
}

bool is_strict_object(std::string_view json, std::size_t depth) {
  Cursor in(json);
  in.skip_space();
  return in.peek() == '{' && in.value(depth) && in.finish();
}

std::optional<std::string> string_value(std::string_view json) {
  Cursor in(json);
  in.skip_space();
  StringBody body;
  if (in.peek() != '"' || !in.string(body) || !in.finish()) return std::nullopt;
  const std::string_view written = body.span.in(json);
  return body.escaped ? unescaped(written) : std::string(written);
}

std::optional<std::string> string_member(std::string_view object, std::string_view key) {
  return string_value(member(object, key).in(object));
}

bool each_member(std::string_view object, const std::function<void(std::string_view, Member)>& each) {
  Cursor in(object);
  in.skip_space();
  if (in.peek() != '{') return false;
  return in.members([&](const StringBody& key) {
    const std::size_t begin = in.position();
    if (!in.value(1)) return false;
    const Member member{{key.span.begin - 1, key.span.end + 1}, {begin, in.position()}};
    const std::string_view written = key.span.in(object);
    if (key.escaped) {
      each(unescaped(written), member);
    } else {
      each(written, member);
    }
    return true;
  });
}

std::vector<Span> cuts(std::string_view object,
                       const std::function<bool(std::string_view, Member)>& unwanted) {
  std::vector<Span> found;
  Span run;                    // unwanted members in a row, up to the last value
  std::size_t kept_until = 0;  // the end of the last wanted value; 0 = none yet
  each_member(object, [&](std::string_view key, Member member) {
    if (unwanted(key, member)) {
      run = {run.present() ? run.begin : member.key.begin, member.value.end};
      return;
    }
    // The comma after the run is removed with it.
    if (run.present()) found.push_back({run.begin, member.key.begin});
    run = {};
    kept_until = member.value.end;
  });
  // Nothing follows the last run, so the comma before it is removed.
  if (run.present()) found.push_back({kept_until > 0 ? kept_until : run.begin, run.end});
  return found;
}

std::string kept_members(std::string_view object, const std::function<bool(std::string_view)>& keep) {
  std::string out = "{";
  each_member(object, [&](std::string_view key, Member member) {
    if (!keep(key)) return;
    if (out.size() > 1) out.push_back(',');
    out.append(member.key.in(object)).append(":").append(member.value.in(object));
  });
  out.push_back('}');
  return out;
}

std::string without_space(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  bool inside = false;  // in a string
  for (std::size_t at = 0; at < json.size(); ++at) {
    const char byte = json[at];
    if (inside && byte == '\\' && at + 1 < json.size()) {
      out.push_back(byte);
      out.push_back(json[++at]);
      continue;
    }
    if (byte == '"') inside = !inside;
    if (inside || after_space(json.data() + at, json.data() + at + 1) == json.data() + at)
      out.push_back(byte);
  }
  return out;
}

std::optional<std::vector<Span>> array_elements(std::string_view array, std::size_t most) {
  std::size_t at = after_space(array, 0);
  if (byte_at(array, at) != '[') return std::nullopt;
  std::vector<Span> elements;
  at = after_space(array, at + 1);
  if (byte_at(array, at) != ']') {
    for (;; ++at) {
      at = after_space(array, at);
      Cursor in(array.substr(at));
      if (!in.value(1)) return std::nullopt;
      elements.push_back({at, at + in.position()});
      if (elements.size() > most) return elements;
      at = after_space(array, elements.back().end);
      if (byte_at(array, at) == ']') break;
      if (byte_at(array, at) != ',') return std::nullopt;
    }
  }
  if (after_space(array, at + 1) != array.size()) return std::nullopt;
  return elements;
}

std::string request_message(std::string_view id, std::string_view method, std::string_view params) {
  std::string out = R"({"jsonrpc":"2.0","id":)";
  out.append(or_null(id)).append(R"(,"method":)").append(quoted(method));
  if (!params.empty()) out.append(R"(,"params":)").append(params);
  return out.append("}");
}

std::string notification_message(std::string_view method, std::string_view params) {
  std::string out = R"({"jsonrpc":"2.0","method":)";
  out.append(quoted(method));
  if (!params.empty()) out.append(R"(,"params":)").append(params);
  return out.append("}");
}

std::string cancelled_message(std::string_view request_id, std::string_view reason) {
  std::string params = R"({"requestId":)" + std::string(request_id);
  if (!reason.empty()) params.append(R"(,"reason":)").append(quoted(reason));
  return notification_message("notifications/cancelled", params.append("}"));
}

std::string refusal_message(std::string_view id, std::string_view error) {
  std::string out = R"({"jsonrpc":"2.0","id":)";
  return out.append(or_null(id)).append(R"(,"error":)").append(error).append("}");
}

std::string result_message(std::string_view id, std::string_view result) {
  std::string out = R"({"jsonrpc":"2.0","id":)";
  out.append(or_null(id)).append(R"(,"result":)").append(result).append("}");
  return out;
}

std::string error_object(int code, std::string_view message, std::string_view data) {
  std::string out = R"({"code":)" + std::to_string(code);
  out.append(R"(,"message":)").append(quoted(message));
  if (!data.empty()) out.append(R"(,"data":)").append(data);
  return out.append("}");
}

std::string error_message(std::string_view id, int code, std::string_view message, std::string_view data) {
  return refusal_message(id, error_object(code, message, data));
}

}  // namespace corral::wire
