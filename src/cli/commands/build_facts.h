// How this program was built, what is part of it and what it can do here: for `corral version -v`, and so for
// reports of faults.
#pragma once

#include <boost/json/object.hpp>

#include "proc/levels.h"

namespace corral::cli {

/// The members version, build, compiler, program, libraries and features; docs/install.md describes them.
/// `levels` is what this machine supports.
boost::json::object build_facts(const proc::Levels& levels);

}  // namespace corral::cli
