#include "base/system_users.h"

#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>

#include "base/files.h"

namespace corral {
namespace {

/// The fields of a line, as many as there should be; nothing if there are more or fewer.
template <std::size_t count>
std::optional<std::array<std::string_view, count>> fields_of(std::string_view line) {
  std::array<std::string_view, count> fields;
  for (std::size_t at = 0; at < count; ++at) {
    const std::size_t end = line.find(':');
    if ((end == std::string_view::npos) != (at == count - 1)) return std::nullopt;
    fields[at] = line.substr(0, end);
    if (at < count - 1) line.remove_prefix(end + 1);
  }
  return fields;
}

std::optional<unsigned> number_of(std::string_view text) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

}  // namespace

std::optional<SystemUser> system_user_in(std::string_view passwd, uid_t user) {
  while (!passwd.empty()) {
    // name:password:user:group:description:home:shell
    const auto fields = fields_of<7>(take_line(passwd));
    if (!fields || (*fields)[0].empty() || number_of((*fields)[2]) != user) continue;
    const std::optional<unsigned> group = number_of((*fields)[3]);
    if (!group) continue;
    const std::string_view home = (*fields)[5];
    return SystemUser{std::string((*fields)[0]), std::string(home.starts_with('/') ? home : ""), *group};
  }
  return std::nullopt;
}

bool is_group_of_one_in(std::string_view groups, const SystemUser& user, gid_t group) {
  if (user.group != group) return false;
  while (!groups.empty()) {
    // name:password:group:member,member
    const auto fields = fields_of<4>(take_line(groups));
    if (!fields || number_of((*fields)[2]) != group) continue;
    return (*fields)[0] == user.name && ((*fields)[3].empty() || (*fields)[3] == user.name);
  }
  return false;
}

std::optional<SystemUser> system_user(uid_t user) { return system_user_in(read_text("/etc/passwd"), user); }

bool is_group_of_one(gid_t group, uid_t owner) {
  const std::optional<SystemUser> user = system_user(owner);
  return user && is_group_of_one_in(read_text("/etc/group"), *user, group);
}

std::string home_directory() {
  const char* variable = getenv("HOME");
  if (variable != nullptr && *variable == '/') return variable;
  return system_user(geteuid()).value_or(SystemUser()).home;
}

}  // namespace corral
