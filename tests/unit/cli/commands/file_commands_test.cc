// What a person is shown of tokens, logs and manual pages, letter by letter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/file_commands.h"
#include "cli/frame/command.h"

namespace corral::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// ---- token

TEST_F(FileCommands, ATokenIsShownOnceAndListedByName) {
  const auto token = [this](std::vector<std::string> words) {
    words.insert(words.begin(), {"token", "--state-dir", folder_ + "/state"});
    return run(words);
  };
  EXPECT_EQ(token({"list"}).out, "There are no tokens. `corral token create NAME` creates one.\n");

  const Seen made =
      token({"create", "ci", "--server", "files", "--server", "notes", "--root", "/", "--root", "/usr"});

  EXPECT_EQ(made.code, 0);
  EXPECT_GT(made.out.size(), 32U);
  EXPECT_EQ(
      made.errors,
      R"(Token 'ci' gives access to files, notes; roots /, /usr. It is not shown again; it is stored in '~/state/tokens.json'.
Send it as `Authorization: Bearer TOKEN`. `corral token revoke ci` makes it invalid.
)");
  token({"create", "all"});
  const std::string listed = token({"list"}).out;
  EXPECT_THAT(listed, testing::MatchesRegex("NAME  CREATED               OPENS\n"
                                            "ci    [0-9TZ:-]+  files, notes; roots /, /usr\n"
                                            "all   [0-9TZ:-]+  all servers\n"));
  EXPECT_EQ(token({"revoke", "ci"}).out, "Token 'ci' was revoked.\n");
  EXPECT_EQ(token({"revoke", "ci"}).code, 1);
  EXPECT_EQ(token({"create", "A B"}).code, kOwnFailure);
}

TEST_F(FileCommands, TokenNamesWhatIsMissing) {
  EXPECT_THAT(run({"token"}).errors, HasSubstr("expected a subcommand: create, list or revoke"));
  EXPECT_THAT(run({"token", "create"}).errors,
              HasSubstr("give the name of one token: `corral token create NAME`"));
  EXPECT_THAT(run({"token", "revoke", "a", "b"}).errors, HasSubstr("`corral token revoke NAME`"));
  EXPECT_THAT(run({"token", "list", "--server", "a"}).errors,
              HasSubstr("only `corral token create` takes --server and --root"));
  EXPECT_THAT(run({"token", "list", "--root", "/"}).errors,
              HasSubstr("only `corral token create` takes --server and --root"));
  EXPECT_THAT(run({"token", "create", "a", "--root", folder_ + "/none"}).errors,
              HasSubstr("is not a directory"));
}

// ---- logs

TEST_F(FileCommands, LogsShowsWhatWasKeptInItsOrder) {
  write("logs/files.log.1", "2026-11-16T03:40:00.000Z aaaaaaaa first\n");
  write("logs/files.log",
        "2026-11-16T03:40:01.000Z aaaaaaaa second\nno line of corral\n"
        "2026-11-16T03:41:00.000Z bbbbbbbb third\n");
  ToldDaemon daemon;
  daemon.status(R"({"servers":[{"name":"files","log_file":")" + folder_ +
                R"(/logs/files.log"},{"name":"mute"}],
    "instances":[{"server":"helper"}]})");

  EXPECT_EQ(ask(daemon, {"logs", "files"}).out, R"(2026-11-16T03:40:00.000Z aaaaaaaa first
2026-11-16T03:40:01.000Z aaaaaaaa second
no line of corral
2026-11-16T03:41:00.000Z bbbbbbbb third
)");
  EXPECT_EQ(ask(daemon, {"logs", "files", "-n", "1"}).out, R"(2026-11-16T03:41:00.000Z bbbbbbbb third
)");
  EXPECT_EQ(ask(daemon, {"logs", "files", "--since", "2026-11-16T03:40:30Z"}).out,
            R"(2026-11-16T03:41:00.000Z bbbbbbbb third
)");
  EXPECT_EQ(ask(daemon, {"logs", "files", "--json", "-n", "2"}).out,
            R"({"time":null,"server":"files","instance":null,"text":"no line of corral"}
{"time":"2026-11-16T03:41:00.000Z","server":"files","instance":"bbbbbbbb","text":"third"}
)");
  const Seen mute = ask(daemon, {"logs", "mute"});
  EXPECT_EQ(mute.code, 0);
  EXPECT_EQ(mute.errors, "corral logs: mute has written nothing to stderr yet\n");
  const Seen none = ask(daemon, {"logs", "fils"});
  EXPECT_EQ(none.code, 1);
  EXPECT_EQ(none.errors,
            "corral logs: there is no log of a server 'fils'; did you mean files? Known servers: files, "
            "helper, mute\n");
  EXPECT_EQ(ask(daemon, {"logs", "something"}).errors,
            "corral logs: there is no log of a server 'something'; known servers: files, helper, mute\n");
  EXPECT_THAT(ask(daemon, {"logs"}).errors, HasSubstr("give the name of one server"));
}

TEST_F(FileCommands, LogsSaysThatThereAreNone) {
  ToldDaemon daemon;
  daemon.status(R"({"servers":[]})");

  EXPECT_THAT(ask(daemon, {"logs", "a"}).errors, HasSubstr("has no logs\n"));
}

// ---- man

TEST_F(FileCommands, ManIsThePageOfTheCommand) {
  const std::string page = run({"man", "remove"}).out;

  EXPECT_EQ(page.substr(page.find('\n') + 1), R"(.SH NAME
corral\-remove \- Remove a server from corral\(aqs configuration
.SH SYNOPSIS
\fBcorral remove [options] NAME\fR
.SH OPTIONS
.TP
\fB\-\-config\fR \fIFILE\fR
Change this file instead of the default one
.TP
\fB\-\-runtime\-dir\fR \fIDIR\fR
Directory of the daemon\(aqs socket, instead of the usual one
.TP
\fB\-h\fR, \fB\-\-help\fR
Print this help message and exit
.SH EXAMPLES
.nf
  corral remove files
  corral remove files \-\-config ./corral.json
.fi
.PP
Removes the server from the file, with the comment lines directly above it. The rest of the file does not change, and the
old version is kept next to it. A running daemon applies the change: it ends the server\(aqs sessions and instances.
.PP
Exit code: 0, or 1 if nothing was changed.
.SH SEE ALSO
\fBcorral\fR(1)
)");
  EXPECT_THAT(
      run({"man"}).out,
      HasSubstr(".TP\n\\fBcorral\\-remove\\fR(1)\nRemove a server from corral\\(aqs configuration.\n"));
  EXPECT_EQ(run({"man", "remov"}).errors,
            "corral man: unknown command 'remov': did you mean remove?; see `corral --help`\n");
  EXPECT_THAT(run({"man", "a", "b"}).errors, HasSubstr("give one command, or only --directory DIR"));
  EXPECT_THAT(run({"man", "events"}).out, HasSubstr("extinct, \\[u2026] (repeatable)"));
}

TEST_F(FileCommands, ManWritesEveryPage) {
  EXPECT_EQ(run({"man", "--directory", folder_ + "/man1"}).code, 0);

  std::size_t pages = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder_ + "/man1")) {
    EXPECT_THAT(read("man1/" + file.path().filename().string()), StartsWith(".TH CORRAL"));
    ++pages;
  }
  EXPECT_EQ(pages, all_commands().size() + 1);
  EXPECT_EQ(read("man1/corral-remove.1"), run({"man", "remove"}).out);
  EXPECT_EQ(run({"man", "--directory", folder_ + "/man1", "remove"}).code, kOwnFailure);
  EXPECT_EQ(run({"man", "--directory", "/proc/none"}).code, kOwnFailure);
}

TEST_F(FileCommands, CompletionsAreForAShellThatWeKnow) {
  EXPECT_THAT(run({"completions", "bash"}).out, HasSubstr("corral"));
  EXPECT_NE(run({"completions", "zsh"}).out, run({"completions", "bash"}).out);
  EXPECT_NE(run({"completions", "fish"}).out, run({"completions", "zsh"}).out);
  EXPECT_EQ(run({"completions"}).errors, "corral completions: name one shell: bash, zsh or fish\n");
  EXPECT_EQ(run({"completions", "tcsh"}).code, kOwnFailure);
}

}  // namespace
}  // namespace corral::cli
