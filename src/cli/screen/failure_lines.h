// How the failure of a server is shown, in every command that shows one: who failed and when, and the last
// lines of its stderr below the sentence. Pure; its texts become safe for a terminal here.
#pragma once

#include <boost/json/array.hpp>
#include <string>
#include <vector>

#include "cli/screen/page.h"
#include "observe/snapshot.h"

namespace corral::cli {

/// Before each of these lines.
inline constexpr const char* kErrorLineLabel = "  stderr: ";

/// "files failed 3s ago: ", or "files refused 3s ago: " if its client was refused. `kind` is that of the
/// event; empty = not known.
std::string failed_ago(const std::string& server, const std::string& kind, const std::string& age);

/// The lines one under the other, each with the label.
std::string lines_below(const std::vector<std::string>& error_lines);

/// The sentence, and below it everything that the server wrote last. Wrapped, not cut.
void show_failure(Page& page, const observe::FailureView& failure);

/// The strings of a list, for lines that a daemon sent. The texts are not safe for a terminal yet.
std::vector<std::string> strings_in(const boost::json::array& lines);
boost::json::array as_json(const std::vector<std::string>& lines);

}  // namespace corral::cli
