// How `doctor`, `reap`, `watch` and `who` show servers.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/screen/page.h"
#include "survey/survey.h"

namespace corral::cli {

/// "3 servers", "1 process"
std::string count(std::size_t number, const std::string& noun, const std::string& plural);

/// "Codex (pid 812)", "Codex (gone)"
std::string client_of(const survey::Server& server);

/// "@x/files 2026.8.31"
std::string name_of(const survey::Server& server);

/// "450 processes, 6.1 GB, oldest 3d 4h, newest 2m"
std::string sum_of(const survey::Survey& survey, const std::vector<std::size_t>& servers);

enum class Rows { Few, All };

/// One row for each server: pid, age, version, processes, memory, owner. Of a long list only the first and
/// last rows, unless all are wanted.
void show_servers(Page& page, const survey::Survey& survey, const std::vector<std::size_t>& servers,
                  Rows rows);

}  // namespace corral::cli
