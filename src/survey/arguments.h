// Whether a process was started as a configured server is, judged by its arguments alone. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace corral::survey {

/// In ascending order: of several entries that name one program, the best match counts.
enum class Arguments : std::uint8_t {
  NotConfigured,  // no entry names the program
  Other,  // another job of the program: `dart language-server`, where the entry says `dart mcp-server`
  Alike,  // the same job with other options or paths
  Same,   // exactly the arguments of an entry
};

/// The plain words at the beginning say which job a program does ("mcp", "server lsp", "experimental:mcp"),
/// also behind options. An option, a path, an address, a number or a variable is none, and ends them. An
/// option that names a protocol (`--mcp`, `--lsp`) belongs to the job, wherever it is.
Arguments compare_arguments(const std::vector<std::string>& configured,
                            const std::vector<std::string>& running);

}  // namespace corral::survey
