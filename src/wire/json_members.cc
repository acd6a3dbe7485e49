#include "wire/json_members.h"

#include "wire/cursor.h"

namespace corral::wire {

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

}  // namespace corral::wire
