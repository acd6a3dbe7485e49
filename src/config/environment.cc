#include "config/environment.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <iterator>
#include <map>
#include <span>
#include <utility>

#include "base/words.h"

namespace corral::config {
namespace {

using Names = std::span<const std::string_view>;

bool contains(Names names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool begins_with_one_of(Names beginnings, std::string_view name) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [name](std::string_view beginning) { return name.starts_with(beginning); });
}

// Variables that every program may expect after a login, and those that configure a proxy.
constexpr std::string_view kAllowed[] = {"HOME", "PATH", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR"};
constexpr std::string_view kAllowedBeginnings[] = {"LC_", "XDG_"};
constexpr std::string_view kProxyEnding = "_proxy";

// Whole names, because a prefix would also match variables that servers need: SSH_HOST and SSH_AUTH_SOCK,
// TERMINUS_TOKEN, CODEX_HOME, CLAUDE_CODE_OAUTH_TOKEN.
constexpr std::string_view kVolatile[] = {
    // the shell
    "PWD", "OLDPWD", "SHLVL", "_", "GPG_TTY",
    // the terminal or its window
    "TERM", "TERMCAP", "TERMINFO", "TERMINFO_DIRS", "COLORTERM", "COLORFGBG", "WINDOWID", "STY", "TMUX",
    "TMUX_PANE", "ITERM_SESSION_ID", "ITERM_PROFILE", "LC_TERMINAL", "LC_TERMINAL_VERSION", "VTE_VERSION",
    "TILIX_ID", "TERMINATOR_UUID", "TERMINATOR_DBUS_NAME", "TERMINATOR_DBUS_PATH", "WT_SESSION",
    "WT_PROFILE_ID", "SHELL_SESSION_ID", "SECURITYSESSIONID",
    // the login, and variables that a desktop sets for each program that it starts
    "SSH_CLIENT", "SSH_CONNECTION", "SSH_TTY", "SSH_ORIGINAL_COMMAND", "XDG_SESSION_ID",
    "XDG_ACTIVATION_TOKEN", "DESKTOP_STARTUP_ID", "INVOCATION_ID", "JOURNAL_STREAM", "SYSTEMD_EXEC_PID",
    // one session of a client
    "CLAUDECODE", "CLAUDE_PID", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_REMOTE_SESSION_ID", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_SESSION_ATTENDED",
    "CLAUDE_CODE_MESSAGING_SOCKET", "CLAUDE_CODE_MESSAGING_TOKEN", "CODEX_THREAD_ID", "CODEX_SESSION_ID",
    "COPILOT_AGENT_SESSION_ID", "COPILOT_SESSION_ID", "CURSOR_TRACE_ID", "CURSOR_SESSION_ID", "OPENCODE_PID",
    // what people type with and read with; a server has no terminal
    "EDITOR", "VISUAL", "GIT_EDITOR", "PAGER", "GIT_PAGER", "MANPAGER", "LESS", "LESSOPEN", "LESSCLOSE",
    "LESSHISTFILE", "LS_COLORS", "LSCOLORS", "CLICOLOR", "COLUMNS", "LINES", "FZF_DEFAULT_OPTS",
    // prompts and the history of a shell
    "PS1", "PS2", "PS4", "PROMPT", "RPROMPT", "PROMPT_COMMAND", "PROMPT_DIRTRIM", "STARSHIP_SESSION_KEY",
    "STARSHIP_SHELL", "P9K_TTY", "_P9K_TTY", "P9K_SSH", "_P9K_SSH_TTY", "HISTFILE", "HISTSIZE",
    "HISTFILESIZE", "HISTCONTROL", "HISTIGNORE", "HISTTIMEFORMAT", "SAVEHIST",
    // what version managers remember for one shell; the version that they chose is in PATH
    "FNM_MULTISHELL_PATH", "NVM_RC_VERSION", "NVM_CD_FLAGS", "PYENV_SHELL", "RBENV_SHELL", "DIRENV_DIFF",
    "DIRENV_DIR", "DIRENV_FILE", "DIRENV_WATCHES", "CONDA_PROMPT_MODIFIER", "CONDA_SHLVL",
    "VIRTUAL_ENV_PROMPT", "__MISE_DIFF", "__MISE_SESSION", "__MISE_ORIG_PATH", "__MISE_SHELL",
    // corral's own marks: every keeper sets a new one, and a guard's mark is only for its client
    "CORRAL_INSTANCE", "CORRAL_GUARD"};
constexpr std::string_view kVolatileBeginnings[] = {
    "TERM_",    "VSCODE_",    "KITTY_",   "WEZTERM_", "GNOME_TERMINAL_",
    "KONSOLE_", "ALACRITTY_", "GHOSTTY_", "ZELLIJ",   "GIO_LAUNCHED_"};

bool is_proxy(std::string_view name) {
  if (name.size() <= kProxyEnding.size()) return false;
  const std::string_view ending = name.substr(name.size() - kProxyEnding.size());
  return std::equal(ending.begin(), ending.end(), kProxyEnding.begin(),
                    [](char a, char b) { return lower(a) == b; });
}

bool is_allowed(std::string_view name) {
  return !is_volatile(name) &&
         (contains(kAllowed, name) || begins_with_one_of(kAllowedBeginnings, name) || is_proxy(name));
}

using Variables = std::map<std::string, std::string, std::less<>>;

// Directories that a program makes for one shell or one start, with links to what is elsewhere, and puts into
// PATH. fnm's leads to the version that was chosen, so it counts under its real name.
constexpr std::string_view kLinkedForOneShell[] = {"/fnm_multishells/"};
constexpr std::string_view kMadeForOneStart[] = {"/tmp/.mount_", "/tmp/xfs-", "/tmp/yarn--"};

/// What a part of PATH means; empty = nothing to a server.
std::string part_of_path(std::string part) {
  if (begins_with_one_of(kMadeForOneStart, part)) return {};
  const bool linked =
      std::any_of(std::begin(kLinkedForOneShell), std::end(kLinkedForOneShell),
                  [&part](std::string_view mark) { return part.find(mark) != std::string::npos; });
  char real[PATH_MAX];
  if (linked && realpath(part.c_str(), real) != nullptr) return real;
  while (part.size() > 1 && part.back() == '/') part.pop_back();
  return part;
}

/// The same directories in the same order, each once. An empty part would mean the working directory.
std::string normal_path(const std::string& path) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    std::string part = part_of_path(path.substr(begin, end - begin));
    if (!part.empty() && std::find(parts.begin(), parts.end(), part) == parts.end())
      parts.push_back(std::move(part));
    begin = end + 1;
  }
  std::string normal;
  for (const std::string& part : parts) normal.append(normal.empty() ? "" : ":").append(part);
  return normal;
}

/// Brings what two shells write differently into one form, if it means the same.
void normalise(Variables& variables) {
  if (const auto path = variables.find("PATH"); path != variables.end())
    path->second = normal_path(path->second);
  const auto language = variables.find("LANG");
  if (language == variables.end() || variables.contains("LC_ALL")) return;
  std::erase_if(variables, [&language](const auto& variable) {
    return variable.first.starts_with("LC_") && variable.second == language->second;
  });
}

template <class Wanted>
Variables pick(const std::vector<std::string>& entries, Wanted wanted) {
  Variables picked;
  for (const std::string& entry : entries) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos || equals == 0) continue;
    std::string name = entry.substr(0, equals);
    if (wanted(name)) picked[std::move(name)] = entry.substr(equals + 1);
  }
  return picked;
}

std::vector<std::string> as_entries(const Variables& variables) {
  std::vector<std::string> entries;
  entries.reserve(variables.size());
  for (const auto& [name, value] : variables) entries.emplace_back(name).append("=").append(value);
  return entries;
}

}  // namespace

bool is_volatile(std::string_view name) {
  return contains(kVolatile, name) || begins_with_one_of(kVolatileBeginnings, name);
}

std::vector<std::string> environment_for_entry(const std::vector<std::string>& shim, const Server& expanded) {
  Variables variables = pick(shim, is_allowed);
  for (const auto& [name, value] : expanded.env) {
    // The entry takes precedence, even for names that corral would not pass on. A name that contains '='
    // would set another variable.
    if (!name.empty() && name.find('=') == std::string::npos) variables[name] = value;
  }
  normalise(variables);
  return as_entries(variables);
}

std::vector<std::string> environment_for_command(const std::vector<std::string>& shim) {
  Variables variables = pick(shim, [](std::string_view name) { return !is_volatile(name); });
  normalise(variables);
  return as_entries(variables);
}

}  // namespace corral::config
