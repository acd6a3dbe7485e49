// Variables of a client that say nothing to a server: they belong to one window, terminal, shell, login or
// session, or they repeat the directory in which the client works. Pure; any thread may call.
#pragma once

#include <span>
#include <string_view>

namespace corral::config {

/// Variables that a server does not get, with the reason that they share. docs/sharing.md shows the table.
struct VolatileVariables {
  std::string_view names;  // "TERM TERM_*": a star stands for any ending
  std::string_view why;    // "the program that draws the window"
};
std::span<const VolatileVariables> volatile_variables();

/// Whether a variable is in the table. A name that looks like a credential is only there if it is written
/// out.
bool is_volatile(std::string_view name);
/// The same, for variables of which only some values belong to one window.
bool is_volatile(std::string_view name, std::string_view value);

/// A variable in which a client names the project's directory, with the evidence that it does.
struct ProjectVariable {
  std::string_view name;
  std::string_view evidence;
};
std::span<const ProjectVariable> project_variables();

/// Whether the variable is a second name of the directory. It counts if and only if the directory does.
bool names_project(std::string_view variable);

}  // namespace corral::config
