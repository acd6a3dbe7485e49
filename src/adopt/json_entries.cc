// The places of servers in JSON with comments and trailing commas.
#include <algorithm>
#include <map>

#include "adopt/entry_text.h"

namespace corral::adopt {
namespace {

using config::MemberPlace;

/// A member of an object, and the end of the one before it.
struct JsonMember {
  MemberPlace place;
  std::size_t before = 0;
  std::size_t count = 0;  // how often its key is in the object
};

using JsonMembers = std::map<std::string, JsonMember, std::less<>>;

JsonMembers members_of(const std::string& text, std::size_t object) {
  JsonMembers members;
  std::size_t before = 0;
  config::walk_object(text, object, [&](const std::string& key, const MemberPlace& place) {
    JsonMember& member = members[key];
    member = {place, before, member.count + 1};
    before = place.end;
    return true;
  });
  return members;
}

/// The objects of a file by their offset: a table with a thousand servers is walked once.
class JsonWalk {
 public:
  explicit JsonWalk(const std::string& text) : text_(text) {}

  const JsonMembers& at(std::size_t object) {
    const auto known = walked_.find(object);
    return known != walked_.end() ? known->second
                                  : walked_.emplace(object, members_of(text_, object)).first->second;
  }

 private:
  const std::string& text_;
  std::map<std::size_t, JsonMembers> walked_;
};

/// The command and the arguments in the object that has both.
void locate_pair(const std::string& text, const JsonMembers& members, const char* command_key,
                 EntryText& entry) {
  const auto command = members.find(command_key);
  const auto args = members.find("args");
  const auto twice = [&members](const auto& found) {
    return found != members.end() && found->second.count > 1;
  };
  if (twice(command) || twice(args)) {
    entry.refusal = "it has \"" + std::string(twice(args) ? "args" : command_key) +
                    "\" twice, and clients differ in which one counts";
    return;
  }
  if (command == members.end()) return;
  entry.command = command->second.place;
  entry.refusal.clear();
  if (entry.shape == Shape::List) {
    entry.elements = config::find_elements(text, entry.command.value);
  } else if (args != members.end()) {
    entry.args = args->second.place;
    entry.before_args = args->second.before;
    if (entry.arguments == Arguments::List) entry.elements = config::find_elements(text, entry.args.value);
  }
}

void locate_entry(const std::string& text, JsonWalk& walk, config::LineCounter& lines, EntryText& entry) {
  std::size_t at = config::skip_blanks(text, 0);
  MemberPlace place;
  std::string twice;
  for (const std::string& key : entry.keys) {
    const JsonMembers& members = walk.at(at);
    const auto member = members.find(key);
    if (member == members.end()) return;
    if (member->second.count > 1) twice = key;
    place = member->second.place;
    at = place.value;
  }
  entry.line = lines.line_of(place.key);
  if (twice == entry.name && !twice.empty()) {
    entry.refusal = "this name is in the table twice, and clients differ in which one counts";
  } else if (!twice.empty()) {
    entry.refusal = "\"" + twice + "\" is in the file twice, and clients differ in which one counts";
  } else {
    const JsonMembers& members = walk.at(at);
    const auto command = members.find("command");
    const bool nested =
        entry.shape == Shape::Object && command != members.end() && command->second.count == 1;
    entry.refusal.clear();
    if (nested) {
      locate_pair(text, walk.at(command->second.place.value), "path", entry);
    } else {
      locate_pair(text, members, "command", entry);
    }
  }
}

}  // namespace

void locate_json(const std::string& text, std::vector<EntryText>& entries) {
  JsonWalk walk(text);
  config::LineCounter lines(text);
  for (EntryText& entry : entries) locate_entry(text, walk, lines, entry);
}

}  // namespace corral::adopt
