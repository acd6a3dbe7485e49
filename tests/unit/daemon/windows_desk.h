// The desk of one user, for tests of which windows share a process: projects, and directories of programs.
#pragma once

#include <sys/stat.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/origin.h"
#include "survey/temp_files.h"

namespace corral::daemon {

using Words = std::vector<std::string>;
using Variables = std::map<std::string, std::string>;

inline const std::string kMemory = "@modelcontextprotocol/server-memory";
inline const std::string kFiles = "@modelcontextprotocol/server-filesystem";
inline const std::string kEverything = "@modelcontextprotocol/server-everything";

/// A desk: a home directory with projects, and two directories of programs.
class Windows : public survey::TempFiles {
 protected:
  Windows() {
    write("home/.npmrc", "cache=/tmp");  // the user's own: it is the same for all projects
    for (const char* const plain : {"home/p0", "home/p1", "home/p2"}) write(std::string(plain) + "/x", "");
    write("home/p3/notes/one.md", "");
    write("home/p4/.npmrc", "save-exact=true");
    for (const char* const tool : {"one/tool", "two/tool", "home/p1/near/tool"}) {
      chmod(write(tool, "#!/bin/sh\n").c_str(), 0755);
    }
  }
  std::string at(const std::string& path) const { return root() + "/" + path; }
};

inline std::shared_ptr<const Environment> environment_of(const Variables& variables) {
  Environment environment;
  for (const auto& [name, value] : variables) environment.push_back(name + "=" + value);
  return std::make_shared<Environment>(environment);
}

}  // namespace corral::daemon
