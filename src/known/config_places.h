// Where the configuration files of clients are for one user: the rows of the table in known_programs.cc as
// paths. Reads no file, and only for a row with "*SUFFIX" the names in a folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "known/known_programs.h"

namespace corral::known {

struct ConfigPlaces {
  std::string home;
  std::vector<std::string> environment;    // "NAME=value", for $NAME in the table and ${NAME} in a command
  std::vector<std::string> project_roots;  // for "./…"
};

/// For whom a file is: one user, one project (often in a repository), or everybody on this machine.
enum class ConfigScope : std::uint8_t { User, Project, Machine };

ConfigScope scope_of(const ConfigFile& file);

struct PlacedFile {
  std::string path;
  std::string project;  // the root for "./…", else empty
};

/// All places of one row: a file in ~/.config may also be in $XDG_CONFIG_HOME. None if its variable is not
/// set. Without a "*" in the row, the files need not exist.
std::vector<PlacedFile> places_of(const ConfigFile& file, const ConfigPlaces& places);

}  // namespace corral::known
