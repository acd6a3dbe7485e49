// Compares the arguments of a running process with those of a configured server: does the process do the job
// that the configuration names? Pure. marks.cc asks it for every entry that names the program.
//
// A wrong "Same" or "Alike" can end a process that is not a server, so every doubt counts as another job.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace corral::survey {

/// In ascending order: if several entries name one program, the best match counts.
enum class Arguments : std::uint8_t {
  NotConfigured,  // no entry names the program
  Other,  // another job of the program: `dart language-server`, where the entry says `dart mcp-server`
  Alike,  // the same job with other options or paths
  Same,   // exactly the arguments of an entry
};

/// The plain words at the beginning say which job a program does ("mcp", "server lsp", "experimental:mcp"),
/// even after options. An option, a path, an address, a number or a variable is not such a word, and ends the
/// list. An option that names a protocol (`--mcp`, `--lsp`) belongs to the job, wherever it is.
Arguments compare_arguments(const std::vector<std::string>& configured,
                            const std::vector<std::string>& running);

}  // namespace corral::survey
