// The manual pages, letter by letter.
#include "cli/frame/command_texts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/file_commands.h"
#include "version.h"

namespace corral::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Command sample() {
  Command command;
  command.name = "try-it";
  command.summary = "Try it: a\\b 'c' `d` ^e ~f é … \U0001f600.";
  command.usage = "corral try-it [options] NAME";
  command.options = {{"-f,--file", "FILE", "'The' file", nullptr}, {"--json", "", ".Print JSON", nullptr}};
  command.examples =
      "Examples:\n  corral try-it\n  .hidden\n\nSome prose.\nMore of it.\nExit code: 0.\n\n  "
      "indented\nlast\n\n";
  return command;
}

std::string title(const std::string& name) {
  std::string date(kBuildDate);
  for (std::size_t at = 0; (at = date.find('-', at)) != std::string::npos; at += 2) date.insert(at, "\\");
  std::string version(kVersion);
  for (std::size_t at = 0; (at = version.find('-', at)) != std::string::npos; at += 2)
    version.insert(at, "\\");
  return ".TH " + name + " 1 \"" + date + "\" \"corral " + version + "\" \"User Commands\"\n";
}

TEST(ManPage, OfACommandHasAllOfItsHelp) {
  EXPECT_EQ(man_page(sample()), title("CORRAL\\-TRY\\-IT") + R"(.SH NAME
corral\-try\-it \- Try it: a\eb \(aqc\(aq \(gad\(ga \(hae \(tif \[u00E9] \[u2026] \[u1F600]
.SH SYNOPSIS
\fBcorral try\-it [options] NAME\fR
.SH OPTIONS
.TP
\fB\-f\fR, \fB\-\-file\fR \fIFILE\fR
\&\(aqThe\(aq file
.TP
\fB\-\-json\fR
\&.Print JSON
.TP
\fB\-h\fR, \fB\-\-help\fR
Print this help message and exit
.SH EXAMPLES
.nf
  corral try\-it
  .hidden
.fi
.PP
Some prose.
More of it.
.PP
Exit code: 0.
.PP
.nf
  indented
.fi
last
.SH SEE ALSO
\fBcorral\fR(1)
)");
}

TEST(ManPage, WithoutExamplesHasNotes) {
  Command command = sample();
  command.options.clear();
  command.examples = "Only prose.\nExit code: 0.";
  EXPECT_THAT(man_page(command),
              HasSubstr("exit\n.SH NOTES\nOnly prose.\n.PP\nExit code: 0.\n.SH SEE ALSO\n"));
  command.examples = "Prose.\n\nExit code: 0.\n";
  EXPECT_THAT(man_page(command), HasSubstr(".SH NOTES\nProse.\n.PP\nExit code: 0.\n.SH SEE ALSO\n"));
  command.examples = "  first\nExamples:\n\n  second";
  EXPECT_THAT(man_page(command),
              HasSubstr("exit\n.nf\n  first\n.fi\n.SH EXAMPLES\n.nf\n  second\n.fi\n.SH SEE"));
  command.examples = "";
  EXPECT_THAT(man_page(command), HasSubstr("exit\n.SH SEE ALSO\n"));
}

TEST(ManPage, OfCorralListsItsCommands) {
  EXPECT_EQ(man_page(std::vector<Command>{sample()}), title("CORRAL") + R"(.SH NAME
corral \- run MCP servers and end them with their sessions
.SH SYNOPSIS
\fBcorral COMMAND [options]\fR
.br
\fBcorral \-\-help\fR
.br
\fBcorral \-\-version\fR
.SH DESCRIPTION
corral runs MCP servers and ends all their processes when the session ends.
.SH COMMANDS
.TP
\fBcorral\-try\-it\fR(1)
Try it: a\eb \(aqc\(aq \(gad\(ga \(hae \(tif \[u00E9] \[u2026] \[u1F600].
.SH OPTIONS
.TP
\fB\-h\fR, \fB\-\-help\fR
List the commands
.TP
\fB\-\-version\fR
Print version and build date
)");
}

class ManCommand : public FileCommands {};

TEST_F(ManCommand, PrintsThePageThatIsAskedFor) {
  const Seen one = run({"man", "ps"});
  EXPECT_EQ(one.code, 0);
  EXPECT_THAT(one.out, StartsWith(title("CORRAL\\-PS") + ".SH NAME\ncorral\\-ps \\- "));
  const Seen all = run({"man"});
  EXPECT_EQ(all.code, 0);
  EXPECT_EQ(all.out, man_page(all_commands()));
}

TEST_F(ManCommand, WritesEveryPageToAFolder) {
  const Seen seen = run({"man", "--directory", folder_ + "/new/man1"});

  EXPECT_EQ(seen.code, 0);
  EXPECT_EQ(seen.out + seen.errors, "");
  EXPECT_EQ(read("new/man1/corral.1"), man_page(all_commands()));
  for (const Command& command : all_commands()) {
    EXPECT_EQ(read("new/man1/corral-" + command.name + ".1"), man_page(command)) << command.name;
  }
}

}  // namespace
}  // namespace corral::cli
