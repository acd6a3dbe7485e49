// Where the administrator's configuration is, and whether it can be trusted. It applies below the file of
// every user of this machine, and locks keys that they cannot change, so it must be in one place that no
// variable and no option moves. docs/configuration.md has the rules. Reads the file; any thread may call.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"

namespace corral::config {

struct FileText;

inline constexpr const char* kMachineFile = "/etc/corral/config.json";

/// Tests name another file, and its owner: nothing that a user can set does.
struct MachineFile {
  std::string path = kMachineFile;
  uid_t owner = 0;
};

/// The kind of the error is NotFound if there is no such file. The file is refused if it is a link, no
/// regular file, or not the administrator's alone; its directory, too.
Result<FileText> read_machine_text(const MachineFile& machine);

/// Why a file or directory of the administrator with this owner and mode is not trusted, as a sentence; empty
/// if it is.
std::string objection_to_machine(const std::string& path, uid_t owner, mode_t mode,
                                 const MachineFile& machine);

}  // namespace corral::config
