#include "config/volatile_variables.h"

#include <algorithm>
#include <iterator>

#include "base/secrets.h"
#include "base/words.h"

namespace corral::config {
namespace {

// Whole names wherever a beginning would also match variables that servers need: SSH_HOST and SSH_AUTH_SOCK,
// TERMINUS_TOKEN, CODEX_HOME, CLAUDE_CODE_OAUTH_TOKEN, NVIM_SOCKET_PATH, XDG_SESSION_TYPE (by which a program
// chooses how to read the screen or the clipboard).
constexpr VolatileVariables kVolatile[] = {
    {"PWD OLDPWD SHLVL _", "what a shell notes about itself"},
    {"TERM TERMCAP TERMINFO TERMINFO_DIRS COLORTERM COLORFGBG COLUMNS LINES GPG_TTY",
     "what the terminal can do; a server has none"},
    {"TERM_* TERMINAL_EMULATOR WINDOWID VTE_VERSION LC_TERMINAL LC_TERMINAL_VERSION ITERM_PROFILE "
     "ITERM_SESSION_ID KITTY_* KITTY_PUBLIC_KEY WEZTERM_* GNOME_TERMINAL_* KONSOLE_* ALACRITTY_* GHOSTTY_* "
     "WARP_* TILIX_ID TERMINATOR_UUID TERMINATOR_DBUS_NAME TERMINATOR_DBUS_PATH WT_SESSION WT_PROFILE_ID "
     "SHELL_SESSION_ID SECURITYSESSIONID",
     "the window, and the program that draws it"},
    {"TMUX TMUX_PANE STY ZELLIJ*", "the terminal multiplexer around the shell"},
    {"RANGER_LEVEL NNNLVL YAZI_ID YAZI_LEVEL MC_SID MC_TMPDIR", "the file manager around the shell"},
    {"VSCODE_* VSCODE_GIT_IPC_AUTH_TOKEN", "the sockets and programs of one window of VS Code"},
    {"NVIM NVIM_LISTEN_ADDRESS NVIM_LOG_FILE VIM VIMRUNTIME MYVIMRC INSIDE_EMACS",
     "the editor in which the shell runs"},
    {"CHROME_DESKTOP ORIGINAL_XDG_CURRENT_DESKTOP", "what a desktop program of Electron tells its children"},
    {"SSH_CLIENT SSH_CONNECTION SSH_TTY SSH_ORIGINAL_COMMAND", "from where one login came"},
    {"XDG_SESSION_ID XDG_SESSION_CLASS XDG_SESSION_PATH XDG_SEAT XDG_SEAT_PATH XDG_VTNR SESSION_MANAGER "
     "WINDOWPATH",
     "the number and the place of one login"},
    {"XDG_ACTIVATION_TOKEN DESKTOP_STARTUP_ID GIO_LAUNCHED_* INVOCATION_ID JOURNAL_STREAM SYSTEMD_EXEC_PID",
     "what a desktop or systemd says to each program that it starts"},
    {"CLAUDECODE CLAUDE_PID CLAUDE_CODE_ENTRYPOINT CLAUDE_CODE_SSE_PORT CLAUDE_CODE_SESSION_ID "
     "CLAUDE_CODE_REMOTE_SESSION_ID CLAUDE_CODE_CHILD_SESSION CLAUDE_CODE_SESSION_ATTENDED "
     "CLAUDE_CODE_MESSAGING_SOCKET CLAUDE_CODE_MESSAGING_TOKEN CODEX_THREAD_ID CODEX_SESSION_ID "
     "COPILOT_AGENT_SESSION_ID COPILOT_SESSION_ID CURSOR_TRACE_ID CURSOR_SESSION_ID GEMINI_SESSION_ID "
     "OPENCODE_PID",
     "one session of a client"},
    {"CLAUDE_EFFORT", "how long the model of one session thinks"},
    {"CLAUDE_CODE_EXECPATH CLAUDE_AGENT_SDK_VERSION CODEX_MANAGED_BY_NPM CODEX_MANAGED_BY_BUN",
     "how and in which version the client itself was installed"},
    {"GEMINI_CLI", "says only that the client is Gemini CLI"},
    {"EDITOR VISUAL GIT_EDITOR", "with what a person types"},
    {"PAGER GIT_PAGER MANPAGER SYSTEMD_PAGER SYSTEMD_LESS LESS LESSOPEN LESSCLOSE LESSHISTFILE MANPATH "
     "INFOPATH",
     "how and where a person reads manuals and long output"},
    {"LS_COLORS LSCOLORS CLICOLOR GREP_COLOR GREP_COLORS EZA_COLORS EXA_COLORS BAT_THEME FZF_DEFAULT_OPTS",
     "the colours of tools that people look at"},
    {"PS1 PS2 PS4 PROMPT RPROMPT PROMPT_COMMAND PROMPT_DIRTRIM STARSHIP_SESSION_KEY STARSHIP_SHELL P9K_TTY "
     "_P9K_TTY P9K_SSH _P9K_SSH_TTY POSH_*",
     "the prompt of one shell"},
    {"HISTFILE HISTSIZE HISTFILESIZE HISTCONTROL HISTIGNORE HISTTIMEFORMAT SAVEHIST ATUIN_*",
     "the history of one shell"},
    {"ZDOTDIR USER_ZDOTDIR",
     "where zsh has its start-up files; VS Code and others set it for the shells in their windows"},
    {"FNM_MULTISHELL_PATH NVM_BIN NVM_INC NVM_RC_VERSION NVM_CD_FLAGS PYENV_SHELL RBENV_SHELL __MISE_DIFF "
     "__MISE_SESSION __MISE_ORIG_PATH __MISE_SHELL CONDA_PROMPT_MODIFIER CONDA_SHLVL VIRTUAL_ENV_PROMPT",
     "what a version manager remembers for one shell; the version that it chose is in PATH"},
    {"DIRENV_DIFF DIRENV_DIR DIRENV_FILE DIRENV_WATCHES",
     "what direnv remembers for one shell; the variables that it set are passed on"},
    {"INIT_CWD PROJECT_CWD BERRY_BIN_FOLDER PNPM_SCRIPT_SRC_DIR npm_lifecycle_* npm_package_* npm_command "
     "npm_execpath npm_node_execpath npm_config_local_prefix npm_config_user_agent npm_config_npm_version "
     "npm_config_node_gyp npm_config_init_module",
     "which script npm, pnpm or yarn runs, and where, if one of them started the client; each sets its own"},
    {"CORRAL_INSTANCE CORRAL_GUARD",
     "corral's own marks: every keeper sets a new one, and a guard's mark is only for its client"},
};

// GIT_ASKPASS names the program that git asks for a password, so it may decide whose credentials a server
// uses: it counts. But the program of VS Code works only with variables of its window, which are left out.
constexpr std::string_view kAskPass = "GIT_ASKPASS";
constexpr std::string_view kAskPassOfWindow = "/extensions/git/dist/askpass.sh";

constexpr ProjectVariable kProject[] = {
    {"CLAUDE_PROJECT_DIR", "Claude Code sets it for every stdio server since 2.1.141 of May 2026"},
    {"WORKSPACE_FOLDER_PATHS", "Cursor sets it for every stdio server"},
    {"GEMINI_PROJECT_DIR", "Gemini CLI sets it for its hooks, and for what these start"},
    {"GEMINI_CWD", "Gemini CLI sets it for its hooks, and for what these start"},
    {"QWEN_PROJECT_DIR", "Qwen Code sets it for its hooks, and for what these start"},
    {"FACTORY_PROJECT_DIR", "Factory's Droid sets it for its hooks, and for what these start"},
};

}  // namespace

std::span<const VolatileVariables> volatile_variables() { return kVolatile; }

bool is_volatile(std::string_view name) {
  return std::any_of(std::begin(kVolatile), std::end(kVolatile), [name](const VolatileVariables& group) {
    const NameMatch match = match_name(group.names, name);
    return match == NameMatch::Whole || (match == NameMatch::Beginning && !names_secret(name));
  });
}

bool is_volatile(std::string_view name, std::string_view value) {
  return is_volatile(name) || (name == kAskPass && value.ends_with(kAskPassOfWindow));
}

std::span<const ProjectVariable> project_variables() { return kProject; }

bool names_project(std::string_view variable) {
  return std::any_of(std::begin(kProject), std::end(kProject),
                     [variable](const ProjectVariable& known) { return known.name == variable; });
}

}  // namespace corral::config
