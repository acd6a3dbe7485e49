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
  EXPECT_EQ(token({"list"}).out, "There are no tokens. `corral token create NAME` makes one.\n");

  const Seen made =
      token({"create", "ci", "--server", "files", "--server", "notes", "--root", "/", "--root", "/usr"});

  EXPECT_EQ(made.code, 0);
  EXPECT_GT(made.out.size(), 32U);
  EXPECT_EQ(
      made.errors,
      R"(Token 'ci' opens files, notes; roots /, /usr. It is not shown again; it is kept in '~/state/tokens.json'.
Send it as `Authorization: Bearer TOKEN`. `corral token revoke ci` ends it.
)");
  token({"create", "all"});
  const std::string listed = token({"list"}).out;
  EXPECT_THAT(listed, testing::MatchesRegex("NAME  CREATED               OPENS\n"
                                            "ci    [0-9TZ:-]+  files, notes; roots /, /usr\n"
                                            "all   [0-9TZ:-]+  all servers\n"));
  EXPECT_EQ(token({"revoke", "ci"}).out, "Token 'ci' is revoked.\n");
  EXPECT_EQ(token({"revoke", "ci"}).code, 1);
  EXPECT_EQ(token({"create", "A B"}).code, kOwnFailure);
}

TEST_F(FileCommands, TokenNamesWhatIsMissing) {
  EXPECT_THAT(run({"token"}).errors, HasSubstr("write create, list or revoke behind it"));
  EXPECT_THAT(run({"token", "create"}).errors,
              HasSubstr("write the name of one token: `corral token create NAME`"));
  EXPECT_THAT(run({"token", "revoke", "a", "b"}).errors, HasSubstr("`corral token revoke NAME`"));
  EXPECT_THAT(run({"token", "list", "--server", "a"}).errors,
              HasSubstr("--server and --root are for `corral token create`"));
  EXPECT_THAT(run({"token", "list", "--root", "/"}).errors,
              HasSubstr("--server and --root are for `corral token create`"));
  EXPECT_THAT(run({"token", "create", "a", "--root", folder_ + "/none"}).errors,
              HasSubstr("is not a folder"));
}

// ---- logs

TEST_F(FileCommands, LogsShowsWhatWasKeptInItsOrder) {
  write("logs/files.log.1", "2026-11-16T03:40:00.000Z aaaaaaaa first\n");
  write("logs/files.log",
        "2026-11-16T03:40:01.000Z aaaaaaaa second\nno line of ours\n"
        "2026-11-16T03:41:00.000Z bbbbbbbb third\n");
  ToldDaemon daemon;
  daemon.status(R"({"servers":[{"name":"files","log_file":")" + folder_ +
                R"(/logs/files.log"},{"name":"mute"}],
    "instances":[{"server":"guest"}]})");

  EXPECT_EQ(ask(daemon, {"logs", "files"}).out, R"(2026-11-16T03:40:00.000Z aaaaaaaa first
2026-11-16T03:40:01.000Z aaaaaaaa second
no line of ours
2026-11-16T03:41:00.000Z bbbbbbbb third
)");
  EXPECT_EQ(ask(daemon, {"logs", "files", "-n", "1"}).out, R"(2026-11-16T03:41:00.000Z bbbbbbbb third
)");
  EXPECT_EQ(ask(daemon, {"logs", "files", "--since", "2026-11-16T03:40:30Z"}).out,
            R"(2026-11-16T03:41:00.000Z bbbbbbbb third
)");
  EXPECT_EQ(ask(daemon, {"logs", "files", "--json", "-n", "2"}).out,
            R"({"time":null,"server":"files","instance":null,"text":"no line of ours"}
{"time":"2026-11-16T03:41:00.000Z","server":"files","instance":"bbbbbbbb","text":"third"}
)");
  const Seen mute = ask(daemon, {"logs", "mute"});
  EXPECT_EQ(mute.code, 0);
  EXPECT_EQ(mute.errors, "corral logs: mute has written nothing to stderr yet\n");
  const Seen none = ask(daemon, {"logs", "fils"});
  EXPECT_EQ(none.code, 1);
  EXPECT_EQ(
      none.errors,
      "corral logs: nothing is kept of a server 'fils'; did you mean files? There are files, guest, mute\n");
  EXPECT_EQ(ask(daemon, {"logs", "something"}).errors,
            "corral logs: nothing is kept of a server 'something'; there are files, guest, mute\n");
  EXPECT_THAT(ask(daemon, {"logs"}).errors, HasSubstr("write the name of one server"));
}

TEST_F(FileCommands, LogsSaysThatThereAreNone) {
  ToldDaemon daemon;
  daemon.status(R"({"servers":[]})");

  EXPECT_THAT(ask(daemon, {"logs", "a"}).errors, HasSubstr("holds no log of any server\n"));
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
The file to change, in place of the default one
.TP
\fB\-\-runtime\-dir\fR \fIDIR\fR
Where to find the daemon, if not in the usual places
.TP
\fB\-h\fR, \fB\-\-help\fR
Print this help message and exit
.SH EXAMPLES
.nf
  corral remove files
  corral remove files \-\-config ./corral.json
.fi
.PP
Takes the server out of the file, with the comment lines directly above it; everything else stays as it is, and the old
text is kept beside it. A running daemon takes the change over: the server\(aqs sessions end, and what it runs for them.
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
  EXPECT_THAT(run({"man", "a", "b"}).errors, HasSubstr("write one command, or --directory DIR alone"));
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
