// `corral` without a command, on a terminal. Looks at files, at /proc and at a daemon that runs; starts
// nothing and changes nothing.
#pragma once

#include "adopt/client_file.h"
#include "cli/screen/first_page.h"

namespace corral::cli {

/// Adds the servers of one file of a client.
void add_file(const adopt::FileLook& file, FirstLook& look);

FirstLook look_first();

/// Prints the page and returns the exit code.
int say_first();

}  // namespace corral::cli
