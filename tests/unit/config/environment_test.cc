#include "config/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <sstream>

namespace corral::config {
namespace {

using Words = std::vector<std::string>;
using ::testing::ElementsAre;

Server with_env(std::vector<std::pair<std::string, std::string>> env) {
  Server server;
  server.env = std::move(env);
  return server;
}

TEST(EnvironmentForEntry, TakesOnlyTheListedNames) {
  const Words listed = {"HOME=/h",
                        "HTTPS_PROXY=p",
                        "Http_Proxy=p",
                        "LANG=C",
                        "LC_ALL=C",
                        "LC_TIME=C",
                        "LOGNAME=u",
                        "PATH=/bin",
                        "SHELL=/s",
                        "TMPDIR=/t",
                        "TZ=UTC",
                        "USER=u",
                        "XDG_CONFIG_HOME=/c",
                        "XDG_RUNTIME_DIR=/r",
                        "no_proxy=lo"};
  Words shim = listed;
  for (const char* other : {"API_KEY=secret", "TERM=xterm", "PWD=/x", "NODE_OPTIONS=-r x", "HOMEX=1",
                            "XHOME=1", "LANGUAGE=en", "_proxy=x", "proxy=x", "LC=1", "LD_PRELOAD=x",
                            "home=/h", "XDG_SESSION_ID=4", "XDG_ACTIVATION_TOKEN=t", "LC_TERMINAL=iTerm2"}) {
    shim.emplace_back(other);
  }

  const Words taken = environment_for_entry(shim, with_env({}));

  EXPECT_THAT(taken, ::testing::UnorderedElementsAreArray(listed));
}

TEST(EnvironmentForEntry, LetsTheEntryDecide) {
  const Server server = with_env({{"TOKEN", "t=1"},
                                  {"HOME", "/other"},
                                  {"EMPTY", ""},
                                  {"TERM", "dumb"},
                                  {"TWICE", "1"},
                                  {"TWICE", "2"},
                                  {"", "nameless"},
                                  {"A=B", "no name"}});

  EXPECT_THAT(environment_for_entry({"HOME=/h", "TOKEN=shim"}, server),
              ElementsAre("EMPTY=", "HOME=/other", "TERM=dumb", "TOKEN=t=1", "TWICE=2"));
}

// Names with spaces between them.
constexpr const char* kOfOneWindow =
    "PWD OLDPWD SHLVL _ TERM TERM_PROGRAM TERM_SESSION_ID COLORTERM WINDOWID SSH_CLIENT "
    "SSH_CONNECTION SSH_TTY VSCODE_PID VSCODE_IPC_HOOK_CLI TMUX TMUX_PANE STY KITTY_WINDOW_ID "
    "WEZTERM_PANE GNOME_TERMINAL_SCREEN ITERM_SESSION_ID CLAUDECODE CLAUDE_CODE_SSE_PORT "
    "CLAUDE_CODE_ENTRYPOINT CLAUDE_CODE_SESSION_ID CLAUDE_CODE_MESSAGING_TOKEN CODEX_THREAD_ID "
    "COPILOT_AGENT_SESSION_ID CURSOR_TRACE_ID OPENCODE_PID CORRAL_INSTANCE CORRAL_GUARD "
    "EDITOR VISUAL PAGER LS_COLORS PS1 PROMPT_COMMAND STARSHIP_SESSION_KEY HISTFILE HISTCONTROL "
    "FNM_MULTISHELL_PATH PYENV_SHELL DIRENV_DIFF __MISE_SESSION VIRTUAL_ENV_PROMPT COLUMNS "
    "CLAUDE_EFFORT CLAUDE_CODE_EXECPATH ATUIN_SESSION POSH_PID NVM_BIN NVM_INC ZDOTDIR USER_ZDOTDIR MANPATH "
    "TERMINAL_EMULATOR NVIM INSIDE_EMACS WARP_IS_LOCAL_SHELL_SESSION GEMINI_CLI CODEX_MANAGED_BY_NPM "
    "XDG_SESSION_ID XDG_VTNR INIT_CWD npm_lifecycle_event npm_package_json KITTY_PUBLIC_KEY "
    "VSCODE_GIT_IPC_AUTH_TOKEN ";
// Settings that servers have, and names that are only similar.
constexpr const char* kSettings =
    "API_KEY SSH_AUTH_SOCK SSH_HOST SSH_PRIVATE_KEY TERMINUS_TOKEN CODEX_HOME CLAUDE_PROJECT_DIR "
    "CLAUDE_CODE_OAUTH_TOKEN COPILOT_GITHUB_TOKEN DISPLAY DBUS_SESSION_BUS_ADDRESS NVIM_SOCKET_PATH "
    "XDG_RUNTIME_DIR LD_LIBRARY_PATH term pwd CURSOR_API_KEY VSCODE PWDX __ VIRTUAL_ENV NVM_DIR "
    "PYENV_ROOT CONDA_PREFIX EDITOR_TOKEN WORKSPACE_FOLDER_PATHS XDG_SESSION_TYPE GIT_ASKPASS WARP_API_KEY "
    "ATUIN_KEY npm_package_config_token npm_config_registry ";

Words variables(const char* names) {
  Words entries;
  std::istringstream in(names);
  for (std::string name; in >> name;) entries.push_back(name + "=1");
  return entries;
}

TEST(EnvironmentForCommand, LosesOnlyWhatBelongsToOneWindow) {
  const Words lost = variables(kOfOneWindow);
  const Words kept = variables(kSettings);
  ASSERT_GE(lost.size(), 32U);
  ASSERT_GE(kept.size(), 20U);
  Words shim = lost;
  shim.insert(shim.end(), kept.begin(), kept.end());

  EXPECT_THAT(environment_for_command(shim), ::testing::UnorderedElementsAreArray(kept));
}

TEST(EnvironmentForCommand, LosesOnlyTheAskPassOfAWindow) {
  const std::string own = "GIT_ASKPASS=/usr/lib/git-core/git-gui--askpass";
  EXPECT_THAT(environment_for_command({own}), ElementsAre(own));
  EXPECT_THAT(
      environment_for_command({"GIT_ASKPASS=/usr/share/code/resources/app/extensions/git/dist/askpass.sh"}),
      ElementsAre());
}

TEST(EnvironmentForCommand, IsTheSameInEveryOrder) {
  EXPECT_EQ(environment_for_command({"B=2", "A=1", "C=3"}), environment_for_command({"C=3", "B=2", "A=1"}));
}

TEST(EnvironmentForCommand, GivesEveryNameOnceAndTheLastCounts) {
  EXPECT_THAT(environment_for_command({"A=1", "B=2", "A=3", "A=", "A.=4"}), ElementsAre("A=", "A.=4", "B=2"));
}

TEST(EnvironmentForCommand, LeavesOutEntriesThatAreNotVariables) {
  EXPECT_THAT(environment_for_command({"", "=", "=x", "word", "A==b"}), ElementsAre("A==b"));
}

TEST(EnvironmentForCommand, HasPathInOneForm) {
  const auto path = [](const std::string& value) {
    return environment_for_command({"PATH=" + value}).front().substr(5);
  };
  EXPECT_EQ(path("/usr/bin:/bin"), "/usr/bin:/bin");
  EXPECT_EQ(path(":/usr/bin::/bin:"), "/usr/bin:/bin") << "an empty part is the working directory";
  EXPECT_EQ(path("/usr/bin/:/bin:/usr/bin:/bin/"), "/usr/bin:/bin") << "each once, where it stands first";
  EXPECT_EQ(path("/tmp/.mount_CodeAbc/usr/bin:/bin:/tmp/xfs-1a2b3c:/tmp/yarn--17-0.5"), "/bin");
  EXPECT_EQ(path("/home/me/.codex/tmp/arg0-linux/codex-arg0CvrPck:/bin"), "/bin");
  EXPECT_EQ(path("/"), "/");
}

TEST(EnvironmentForCommand, HasTheVersionThatAShellChoseUnderItsRealName) {
  char folder[] = "/tmp/corral-environment-XXXXXX";
  const std::string root = mkdtemp(folder);
  std::filesystem::create_directories(root + "/node-v22/bin");
  std::filesystem::create_directories(root + "/fnm_multishells");
  Words found;
  for (const char* const shell : {"123_1", "456_2"}) {
    std::filesystem::create_directory_symlink(root + "/node-v22", root + "/fnm_multishells/" + shell);
    found.push_back(environment_for_command({"PATH=" + root + "/fnm_multishells/" + shell + "/bin:/bin"})[0]);
  }
  EXPECT_EQ(found[0], "PATH=" + root + "/node-v22/bin:/bin");
  EXPECT_EQ(found[1], found[0]);
  std::filesystem::remove_all(root);
}

TEST(EnvironmentForCommand, LosesLocalesThatRepeatTheLanguage) {
  EXPECT_THAT(environment_for_command({"LANG=de_DE.UTF-8", "LC_TIME=de_DE.UTF-8", "LC_NUMERIC=C"}),
              ElementsAre("LANG=de_DE.UTF-8", "LC_NUMERIC=C"));
  EXPECT_THAT(environment_for_command({"LANG=C", "LC_ALL=C", "LC_TIME=C"}),
              ElementsAre("LANG=C", "LC_ALL=C", "LC_TIME=C"));
}

}  // namespace
}  // namespace corral::config
