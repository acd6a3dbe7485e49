// Puts corral in front of a server's command in the text of a client's file, and takes it away again. Pure.
//
// Both are insertions and deletions of corral's own words: the token of the command moves into the list of
// arguments as it is written, and no byte of the user's arguments is touched. So no argument, which may be a
// credential, is ever read into a new text, and taking the words away gives back the same bytes.
#pragma once

#include <string>
#include <vector>

#include "adopt/entry_text.h"
#include "base/result.h"
#include "config/text_edits.h"

namespace corral::adopt {

/// What goes in front of a command.
struct Front {
  std::string program;             // corral
  std::vector<std::string> words;  // its own arguments: {"connect", "--name", "files", "--"}
};

/// Where a list of arguments was added at the end of a file without a line end; undoing it removes that, too.
enum class LastLine : std::uint8_t { Whole, Open };

struct Wrapped {
  std::vector<config::Edit> edits;
  LastLine last_line = LastLine::Whole;
};

Wrapped wrap(const std::string& text, known::ConfigFormat format, const EntryText& entry, const Front& front);

/// What is known of an entry that was wrapped.
struct Undo {
  std::size_t words = 0;  // how many follow the program
  Arguments arguments = Arguments::List;
  LastLine last_line = LastLine::Whole;
};

/// Works in the present layout, which the client may have changed. An error, as a clause, if a comment would
/// be lost.
Result<std::vector<config::Edit>> unwrap(const std::string& text, const EntryText& entry, const Undo& undo);

/// The entry with corral in front, or without it, as a parser sees it.
boost::json::object wrapped_value(const EntryText& entry, const Front& front);
boost::json::object unwrapped_value(const EntryText& entry, const Undo& undo);

/// An entry that was changed, and what a parser must find there now.
struct Expected {
  std::vector<std::string> keys;
  boost::json::object value;
};

/// Parses the new text and compares everything in it with `before`: only the expected entries may differ. An
/// error says that the file was left alone.
Result<void> check_change(const boost::json::value& before, const std::vector<Expected>& expected,
                          const std::string& text, known::ConfigFormat format);

}  // namespace corral::adopt
