// The users and groups of this machine, as /etc/passwd and /etc/group name them.
//
// Not getpwuid(): it loads the plug-ins that /etc/nsswitch.conf names, and in a static program these crash,
// because they bring a second C library. So users of a directory service (LDAP, systemd-homed) have no name
// here; they have HOME. Reads files, at most 1 MiB of each; keeps nothing; every thread may call it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

namespace corral {

struct SystemUser {
  std::string name;
  std::string home;  // absolute, or empty
  gid_t group = 0;
};

/// Both are pure. A line that is not of the form in passwd(5) or group(5) is passed over, like lines that
/// other programs keep there for directory services ("+", "-").
std::optional<SystemUser> system_user_in(std::string_view passwd, uid_t user);
/// Whether the user has a group of its own name in which nobody else is named.
bool is_group_of_one_in(std::string_view groups, const SystemUser& user, gid_t group);

/// What /etc/passwd says about this user; nothing if it does not name the user.
std::optional<SystemUser> system_user(uid_t user);

/// Whether the owner is the only member of the group. Many systems create such a group for every user and
/// make new files writable for it.
bool is_group_of_one(gid_t group, uid_t owner);

/// The home directory of this process's user: HOME if it is an absolute path, otherwise what /etc/passwd
/// says; empty if neither knows it.
std::string home_directory();

}  // namespace corral
