// The other half of the table: programs that start servers, and names that say what a program is.
#include <algorithm>
#include <array>

#include "base/words.h"

#include "known/known_programs.h"

namespace corral::known {
namespace {

using enum LauncherKind;

const std::vector<std::string_view> kDockerRun = {"run", "container run"};
// Of `docker run` and `podman run`, together with those of docker itself; every other option is a flag or has
// a "=".
const std::vector<std::string_view> kDockerOptions = {"-a",
                                                      "--add-host",
                                                      "--annotation",
                                                      "--attach",
                                                      "--blkio-weight",
                                                      "-c",
                                                      "--cap-add",
                                                      "--cap-drop",
                                                      "--cgroup-parent",
                                                      "--cgroupns",
                                                      "--cidfile",
                                                      "--config",
                                                      "--context",
                                                      "--cpu-period",
                                                      "--cpu-quota",
                                                      "--cpu-shares",
                                                      "--cpus",
                                                      "--cpuset-cpus",
                                                      "--cpuset-mems",
                                                      "--device",
                                                      "--dns",
                                                      "--dns-option",
                                                      "--dns-search",
                                                      "--domainname",
                                                      "-e",
                                                      "--env",
                                                      "--entrypoint",
                                                      "--env-file",
                                                      "--expose",
                                                      "--gpus",
                                                      "--group-add",
                                                      "-h",
                                                      "-H",
                                                      "--health-cmd",
                                                      "--host",
                                                      "--hostname",
                                                      "--ip",
                                                      "--ip6",
                                                      "--ipc",
                                                      "--isolation",
                                                      "-l",
                                                      "--label",
                                                      "--label-file",
                                                      "--link",
                                                      "--log-driver",
                                                      "--log-level",
                                                      "--log-opt",
                                                      "-m",
                                                      "--mac-address",
                                                      "--memory",
                                                      "--memory-reservation",
                                                      "--memory-swap",
                                                      "--mount",
                                                      "--name",
                                                      "--net",
                                                      "--network",
                                                      "--network-alias",
                                                      "--oom-score-adj",
                                                      "-p",
                                                      "--pid",
                                                      "--pids-limit",
                                                      "--platform",
                                                      "--pod",
                                                      "--publish",
                                                      "--pull",
                                                      "--restart",
                                                      "--root",
                                                      "--runtime",
                                                      "--secret",
                                                      "--security-opt",
                                                      "--shm-size",
                                                      "--stop-signal",
                                                      "--stop-timeout",
                                                      "--storage-opt",
                                                      "--sysctl",
                                                      "--tmpfs",
                                                      "-u",
                                                      "--ulimit",
                                                      "--user",
                                                      "--userns",
                                                      "--uts",
                                                      "-v",
                                                      "--volume",
                                                      "--volume-driver",
                                                      "--volumes-from",
                                                      "-w",
                                                      "--workdir"};

const std::vector<std::string_view> kNodeOptions = {"-r",
                                                    "--require",
                                                    "--import",
                                                    "--loader",
                                                    "--experimental-loader",
                                                    "-C",
                                                    "--conditions",
                                                    "--env-file",
                                                    "--title",
                                                    "--input-type",
                                                    "--icu-data-dir",
                                                    "--openssl-config",
                                                    "--disable-warning",
                                                    "--watch-path",
                                                    "--test-reporter",
                                                    "--tsconfig",
                                                    "-P",
                                                    "--project"};
const std::vector<std::string_view> kNpmOptions = {
    "-p",       "--package",  "-c",      "--call",     "-w",           "--workspace",
    "--prefix", "--registry", "--cache", "--loglevel", "--userconfig", "--node-options"};
const std::vector<std::string_view> kUvOptions = {"--from",
                                                  "-p",
                                                  "--python",
                                                  "--with",
                                                  "--with-editable",
                                                  "--with-requirements",
                                                  "--directory",
                                                  "--project",
                                                  "--index",
                                                  "--default-index",
                                                  "-i",
                                                  "--index-url",
                                                  "--extra-index-url",
                                                  "-f",
                                                  "--find-links",
                                                  "--cache-dir",
                                                  "--config-file",
                                                  "--env-file",
                                                  "--extra",
                                                  "--group",
                                                  "--package",
                                                  "--refresh-package",
                                                  "--reinstall-package",
                                                  "-P",
                                                  "--upgrade-package",
                                                  "--link-mode",
                                                  "--index-strategy",
                                                  "--exclude-newer",
                                                  "--color",
                                                  "-c",
                                                  "--constraints",
                                                  "--overrides",
                                                  "--prerelease",
                                                  "--resolution",
                                                  "--allow-insecure-host"};
const std::vector<std::string_view> kPythonOptions = {"-W", "-X", "--check-hash-based-pycs"};
const std::vector<std::string_view> kShellOptions = {"-o", "+o", "-O", "+O", "--rcfile", "--init-file"};

const std::vector<KnownLauncher> kLaunchers = {
    {"sh", Shell, {}, kShellOptions},
    {"bash", Shell, {}, kShellOptions},
    {"dash", Shell, {}, kShellOptions},
    {"zsh", Shell, {}, kShellOptions},
    {"ash", Shell, {}, kShellOptions},
    {"ksh", Shell, {}, kShellOptions},
    {"fish", Shell, {}, {"-C", "--init-command"}},
    {"npx", NodePackage, {}, kNpmOptions},
    {"npm", NodePackage, {"exec", "x"}, kNpmOptions},
    {"pnpm",
     NodePackage,
     {"dlx", "exec"},
     {"--package", "-C", "--dir", "-F", "--filter", "--registry", "--reporter"}},
    {"pnpx", NodePackage, {}, {"--package"}},
    {"yarn", NodePackage, {"dlx", "exec"}, {"-p", "--package", "--cwd"}},
    {"bunx", NodePackage, {}, {"-p", "--package"}},
    {"uvx", PythonPackage, {}, kUvOptions},
    {"uv", PythonPackage, {"tool run", "tool uvx", "run", "x"}, kUvOptions},
    {"pipx", PythonPackage, {"run"}, {"--spec", "--python", "--pip-args", "--index-url", "-i"}},
    {"node", Interpreter, {}, kNodeOptions},
    {"nodejs", Interpreter, {}, kNodeOptions},
    {"tsx", Interpreter, {"watch"}, kNodeOptions},
    {"ts-node", Interpreter, {}, kNodeOptions},
    {"bun",
     Interpreter,
     {"run", "x"},
     {"-r", "--preload", "-c", "--config", "--cwd", "--env-file", "--tsconfig-override"}},
    {"deno",
     Interpreter,
     {"run"},
     {"-c", "--config", "--import-map", "--lock", "--env-file", "--cert", "-L", "--log-level", "--location",
      "--seed"}},
    {"python", Interpreter, {}, kPythonOptions},
    {"ruby", Interpreter, {}, {"-I", "-r", "-C", "-E"}},
    {"php", Interpreter, {}, {"-d", "-c", "-z", "-f"}},
    {"perl", Interpreter, {}, {"-I"}},
    {"dotnet",
     Interpreter,
     {"run", "exec"},
     {"--project", "-c", "--configuration", "-f", "--framework", "-r", "--runtime", "--launch-profile", "-v",
      "--verbosity", "--additionalprobingpath", "--depsfile", "--runtimeconfig", "--fx-version",
      "--roll-forward"}},
    {"java",
     Interpreter,
     {},
     {"-jar", "-cp", "-classpath", "--class-path", "-p", "--module-path", "--add-modules", "--add-opens",
      "--add-exports", "--add-reads", "--enable-native-access"}},
    {"mcp", Interpreter, {"run", "dev"}, {"-t", "--transport", "--with", "--with-editable", "-e"}},
    {"fastmcp",
     Interpreter,
     {"run", "dev"},
     {"-t", "--transport", "--host", "-p", "--port", "--python", "--with", "--with-requirements", "--project",
      "-l", "--log-level", "--path"}},
    {"docker", Container, kDockerRun, kDockerOptions},
    {"podman", Container, kDockerRun, kDockerOptions},
    {"env", Runner, {}, {"-u", "--unset", "-C", "--chdir"}},
    {"nohup", Runner, {}, {}},
    {"nice", Runner, {}, {"-n", "--adjustment"}},
    {"ionice", Runner, {}, {"-c", "--class", "-n", "--classdata"}},
    {"timeout", Runner, {}, {"-k", "--kill-after", "-s", "--signal"}},
    {"setsid", Runner, {}, {}},
    {"stdbuf", Runner, {}, {"-i", "-o", "-e", "--input", "--output", "--error"}},
    {"sudo",
     Runner,
     {},
     {"-u", "--user", "-g", "--group", "-D", "--chdir", "-p", "--prompt", "-h", "--host"}},
    {"xvfb-run",
     Runner,
     {},
     {"-e", "--error-file", "-f", "--auth-file", "-n", "--server-num", "-s", "--server-args", "-p",
      "--xauth-protocol", "-w", "--wait"}},
    {"bundle", Runner, {"exec"}, {"--gemfile"}},
    {"mise", Runner, {"exec", "x"}, {"-C", "--cd", "-j", "--jobs"}},
    {"dotenvx", Runner, {"run"}, {"-f", "--env-file", "-e", "--env"}},
    {"op", Runner, {"run"}, {"--env-file", "--account"}},
    {"go", Runner, {"run"}, {"-C", "-tags", "-ldflags", "-gcflags", "-mod", "-modfile", "-exec", "-p", "-o"}},
    {"cargo",
     Runner,
     {"run"},
     {"-p", "--package", "--bin", "--example", "-F", "--features", "--profile", "--target", "--target-dir",
      "--manifest-path", "-j", "--jobs", "--color", "--config", "-C", "-Z"}},
    {"corral", Corral, {"run", "connect"}, {}},
};

// Programs that editors and agents run over pipes all the time. A name that is added here must be one that no
// MCP server can have.
constexpr std::array<std::string_view, 88> kNoServers = {"ag",
                                                         "awk",
                                                         "base64",
                                                         "bat",
                                                         "black",
                                                         "buf",
                                                         "cat",
                                                         "clang-format",
                                                         "clangd",
                                                         "cp",
                                                         "curl",
                                                         "cut",
                                                         "date",
                                                         "delta",
                                                         "diff",
                                                         "difft",
                                                         "dirname",
                                                         "du",
                                                         "dlv",
                                                         "eslint",
                                                         "eslintServer.js",
                                                         "eslint_d",
                                                         "esbuild",
                                                         "fd",
                                                         "fdfind",
                                                         "file",
                                                         "find",
                                                         "fsnotifier",
                                                         "fzf",
                                                         "gdb",
                                                         "gh",
                                                         "git",
                                                         "git-lfs",
                                                         "git-remote-https",
                                                         "gitstatusd",
                                                         "gofmt",
                                                         "gopls",
                                                         "gpg",
                                                         "gpg-agent",
                                                         "grep",
                                                         "egrep",
                                                         "head",
                                                         "htop",
                                                         "inotifywait",
                                                         "jdtls",
                                                         "jq",
                                                         "less",
                                                         "ls",
                                                         "lldb",
                                                         "lsof",
                                                         "make",
                                                         "man",
                                                         "marksman",
                                                         "more",
                                                         "mv",
                                                         "nano",
                                                         "ninja",
                                                         "nvim",
                                                         "omnisharp",
                                                         "pgrep",
                                                         "prettier",
                                                         "prettierd",
                                                         "ps",
                                                         "pylsp",
                                                         "rg",
                                                         "rm",
                                                         "rsync",
                                                         "ruff",
                                                         "rust-analyzer",
                                                         "rustc",
                                                         "rustfmt",
                                                         "screen",
                                                         "sed",
                                                         "sleep",
                                                         "sort",
                                                         "sourcekit-lsp",
                                                         "ssh",
                                                         "ssh-agent",
                                                         "ssh-add",
                                                         "tail",
                                                         "taplo",
                                                         "tee",
                                                         "texlab",
                                                         "tmux",
                                                         "tsserver.js",
                                                         "vim",
                                                         "xargs",
                                                         "zls"};

constexpr std::array<std::string_view, 6> kNoServerEndings = {
    "-language-server", "-langserver", "_language_server", "-language-server.js", "-lsp", "-languageserver"};
constexpr std::array<std::string_view, 9> kNoServerParts = {
    "language-server-",    "language_server_", "LanguageServer",
    "ServerMain.js",  // the HTML, CSS and JSON servers of VS Code
    "typescript-language", "rust-analyzer",    "tsserver",       "typingsInstaller", "pyright-langserver"};

std::string_view without_version(std::string_view name) {
  for (const std::string_view family : {"python", "pypy", "ruby", "php", "node", "perl"}) {
    if (!name.starts_with(family)) continue;
    const std::string_view rest = name.substr(family.size());
    if (rest.find_first_not_of("0123456789.") == std::string_view::npos)
      return family == "pypy" ? "python" : family;
  }
  return name;
}

bool is_separator(char c) { return c == '-' || c == '_' || c == '.' || c == '/' || c == '@' || c == ' '; }

}  // namespace

std::span<const KnownLauncher> known_launchers() { return kLaunchers; }

const KnownLauncher* find_launcher(std::string_view name) {
  const std::string_view plain = without_version(name);
  const auto same = [plain](const KnownLauncher& launcher) { return launcher.name == plain; };
  const auto found = std::find_if(kLaunchers.begin(), kLaunchers.end(), same);
  return found == kLaunchers.end() ? nullptr : &*found;
}

bool is_certainly_no_server(std::string_view base_name) {
  if (std::find(kNoServers.begin(), kNoServers.end(), base_name) != kNoServers.end()) return true;
  const auto ends = [base_name](std::string_view ending) { return base_name.ends_with(ending); };
  const auto contains = [base_name](std::string_view part) {
    return base_name.find(part) != std::string_view::npos;
  };
  // A bridge to a language server may well be an MCP server; its name then says so.
  return (std::any_of(kNoServerEndings.begin(), kNoServerEndings.end(), ends) ||
          std::any_of(kNoServerParts.begin(), kNoServerParts.end(), contains)) &&
         !looks_like_a_server(base_name);
}

bool looks_like_a_server(std::string_view word) {
  if (word.starts_with("@modelcontextprotocol/server-")) return true;
  // "mcp" as a word of its own: mcp-server-git, github_mcp, @x/mcp, McpServer; not "mcpherson".
  for (std::size_t at = 0; at + 3 <= word.size(); ++at) {
    if (lower(word[at]) != 'm' || lower(word[at + 1]) != 'c' || lower(word[at + 2]) != 'p') continue;
    const bool begins =
        at == 0 || is_separator(word[at - 1]) || (word[at] == 'M' && lower(word[at - 1]) == word[at - 1]);
    const std::string_view rest = word.substr(at + 3);
    const bool ends = rest.empty() || is_separator(rest.front()) || rest.starts_with("server") ||
                      rest.starts_with("Server");
    if (begins && ends) return true;
  }
  return false;
}

}  // namespace corral::known
