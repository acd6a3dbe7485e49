#include "known/server_command.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/files.h"
#include "base/secrets.h"
#include "base/words.h"
#include "known/known_programs.h"
#include "known/launcher_words.h"
#include "known/package_manifest.h"
#include "known/program_identity.h"

namespace corral::known {
namespace {

constexpr int kMostLaunchers = 8;  // launchers inside launchers

class Reader {
 public:
  Reader(std::string directory, const std::string& path) : directory_(std::move(directory)), path_(path) {}

  ServerCommand read(std::vector<std::string> words, const std::string& executable) {
    follow(std::move(words), executable);
    return std::move(result_);
  }

 private:
  using Words = std::vector<std::string>;

  void follow(Words words, const std::string& executable) {
    if (words.empty() || words.front().empty() || ++depth_ > kMostLaunchers) return;
    std::string called = base_name(words.front());
    if (called.starts_with("-")) called.erase(0, 1);  // a login shell
    const KnownLauncher* launcher = find_launcher(called);
    if (launcher == nullptr && !executable.empty() && words.size() > 1) {
      launcher = find_launcher(base_name(executable));
      // A program that calls itself something else is still an interpreter with a script, not a shell or
      // runner.
      if (launcher != nullptr && launcher->kind != LauncherKind::Interpreter) launcher = nullptr;
    }
    if (launcher == nullptr) return plain(words, executable);
    note(*launcher);
    const Launch launch = read_launch(*launcher, words);
    if (result_.name.empty()) result_.name = called;
    switch (launcher->kind) {
      case LauncherKind::Shell: return shell(launch, words);
      case LauncherKind::NodePackage: return node_package(*launcher, launch, words);
      case LauncherKind::PythonPackage: return python_package(*launcher, launch, words);
      case LauncherKind::Interpreter: return interpreter(*launcher, launch, words, executable);
      case LauncherKind::Container: return container(launch, words);
      case LauncherKind::Runner: return runner(*launcher, launch, words);
      case LauncherKind::Corral: return corral(launch, words);
    }
  }

  /// The outermost launcher counts, because that is the process; an interpreter that runs a launcher is that
  /// launcher.
  void note(const KnownLauncher& launcher) {
    const KnownLauncher* before = find_launcher(result_.launcher);
    if (before == nullptr || before->kind == LauncherKind::Interpreter) result_.launcher = launcher.name;
  }

  static Words from(const Words& words, std::size_t begin) {
    begin = std::min(begin, words.size());
    return {words.begin() + static_cast<std::ptrdiff_t>(begin), words.end()};
  }

  void enter(const std::string& directory) {
    if (directory.empty()) return;
    directory_ = absolute_path(directory, directory_);
  }

  void shell(const Launch& launch, const Words& words) {
    const bool text = launch.has_flag({"-c", "-lc", "-ic", "-ec", "-xc"});
    if (!text && launch.program < words.size())
      return script(words[launch.program], from(words, launch.program + 1));
    result_.is_shell = true;
    if (!text || launch.program >= words.size()) return;
    const std::optional<SimpleCommand> command = read_simple_command(words[launch.program]);
    if (!command) return;
    enter(command->directory);
    // A bare name that is not in our PATH may be in the shell's: npx puts node_modules/.bin there. No guess
    // then.
    if (find_launcher(base_name(command->words.front())) == nullptr &&
        find_program(command->words.front(), directory_, path_).empty()) {
      result_.name = base_name(command->words.front());
      result_.arguments = from(command->words, 1);
      return;
    }
    follow(command->words, "");
    result_.is_shell = true;
  }

  void node_package(const KnownLauncher& launcher, const Launch& launch, const Words& words) {
    if (!launcher.subcommands.empty() && launch.subcommand.empty())
      return package_script(launcher, launch, words);
    enter(launch.value_of({"--prefix", "-C", "--dir", "--cwd"}));
    const std::string named = launch.value_of({"-p", "--package"});
    const bool calls = !launch.value_of({"-c", "--call"}).empty();
    if (launch.program >= words.size() && named.empty()) return;
    const std::string program = launch.program < words.size() ? words[launch.program] : std::string();
    if (!calls) result_.arguments = from(words, launch.program + 1);
    const PackageSpec spec = parse_npm_spec(named.empty() ? program : named);
    if (spec.name.starts_with(".") || spec.name.starts_with("/")) return script(spec.name, result_.arguments);
    result_.name = spec.name;
    result_.key = "npm:" + spec.name;
    result_.version = spec.version;
    if (named.empty() && spec.version.empty() && spec.name.find('/') == std::string::npos)
      local_command(spec.name);
  }

  /// `npx NAME` runs the command NAME of an installed package, if there is one, before it looks for a package
  /// NAME.
  void local_command(const std::string& name) {
    std::string folder = directory_;
    for (int level = 0; level < 4 && !folder.empty(); ++level) {
      const std::string target = resolved(std::string(folder).append("/node_modules/.bin/").append(name));
      if (!target.empty()) return file(target);
      folder.resize(std::min(folder.rfind('/'), folder.size()));
    }
  }

  /// `npm run NAME`, `yarn start`: a script of the project.
  void package_script(const KnownLauncher& launcher, const Launch& launch, const Words& words) {
    enter(launch.value_of({"--prefix", "-C", "--dir", "--cwd"}));
    std::size_t at = launch.program;
    if (at < words.size() && (words[at] == "run" || words[at] == "run-script")) ++at;
    while (at < words.size() && words[at].starts_with("-")) ++at;
    if (at >= words.size() || directory_.empty()) return;
    const std::string folder = resolved(directory_);
    if (folder.empty() || resolved(folder + "/package.json").empty()) return;
    result_.name = std::string(launcher.name) + " " + words[at];
    result_.key = "file:" + folder + "/package.json " + words[at];
    result_.arguments = from(words, at + 1);
    describe_by_manifest(folder + "/package.json", result_);
  }

  void python_package(const KnownLauncher& launcher, const Launch& launch, const Words& words) {
    if (!launcher.subcommands.empty() && launch.subcommand.empty()) return plain(words, "");
    enter(launch.value_of({"--directory"}));
    const bool project = launch.subcommand == "run" && launcher.name == "uv";
    if (launch.program >= words.size()) return;
    const std::string& program = words[launch.program];
    const bool is_path = program.find('/') != std::string::npos || program.ends_with(".py");
    if (project && (is_path || launch.has_flag({"-s", "--script"})))
      return script(program, from(words, launch.program + 1));
    if (project && launch.has_flag({"-m", "--module"}))
      return module("", program, from(words, launch.program + 1));
    if (project && find_launcher(program) != nullptr) return follow(from(words, launch.program), "");
    const std::string source = launch.value_of({"--from", "--spec"});
    PackageSpec spec = parse_python_spec(source.empty() ? program : source);
    // An address does not say how the package is called; its command most often does.
    if (spec.name.find('/') != std::string::npos) spec = parse_python_spec(program);
    // `uvx --from mcp mcp run server.py`: the command is one more launcher.
    const KnownLauncher* inner = find_launcher(program);
    if (inner != nullptr && !inner->subcommands.empty() && inner->kind == LauncherKind::Interpreter) {
      return follow(from(words, launch.program), "");
    }
    result_.name = spec.name;
    result_.key = "pypi:" + spec.name;
    result_.version = spec.version;
    result_.arguments = from(words, launch.program + 1);
  }

  void interpreter(const KnownLauncher& launcher, const Launch& launch, const Words& words,
                   const std::string& executable) {
    const Words rest = from(words, launch.program + 1);
    const bool has_program = launch.program < words.size();
    if (launcher.name == "python" && launch.has_flag({"-m"})) {
      if (has_program) module(words.front(), words[launch.program], rest);
      return;
    }
    if (launch.has_flag({"-e", "--eval", "-p", "--print", "-c", "-pe", "-i", "-"}))
      return;  // it does not say what it runs
    if (launcher.name == "java") return java(launch, words);
    if (launcher.name == "bun" && launch.subcommand == "x")
      return follow_as("bunx", from(words, launch.program));
    if (launcher.name == "dotnet" && launch.subcommand == "run") {
      const std::string project = launch.value_of({"--project"});
      return script(project.empty() ? "." : project, from(words, launch.program));
    }
    const bool needs_subcommand = launcher.name == "mcp" || launcher.name == "fastmcp";
    if (needs_subcommand && launch.subcommand.empty()) return plain(words, executable);
    if (has_program) return script(words[launch.program], rest);
    if (words.size() == 1 && !executable.empty() && words.front() != launcher.name)
      result_.name = words.front();
  }

  void follow_as(const char* launcher, Words words) {
    words.insert(words.begin(), launcher);
    follow(std::move(words), "");
  }

  void java(const Launch& launch, const Words& words) {
    const std::string jar = launch.value_of({"-jar"});
    if (!jar.empty()) return script(jar, from(words, launch.program));
    if (launch.program >= words.size()) return;
    result_.name = words[launch.program];
    result_.key = "class:" + words[launch.program];
    result_.arguments = from(words, launch.program + 1);
  }

  void container(const Launch& launch, const Words& words) {
    if (launch.subcommand.empty() || launch.program >= words.size()) {
      // `docker mcp gateway run`, `docker exec …`: not an image, but still worth telling apart.
      const Words rest = from(words, launch.program);
      if (rest.size() > 1) result_.key = "file:" + base_name(words.front()) + " " + rest[0] + " " + rest[1];
      return;
    }
    std::string image = words[launch.program];
    image.resize(std::min(image.find('@'), image.size()));
    const std::size_t colon = image.find(':', image.rfind('/') == std::string::npos ? 0 : image.rfind('/'));
    if (colon != std::string::npos) {
      const std::string tag = image.substr(colon + 1);
      result_.version = tag == "latest" ? std::string() : tag;
      image.resize(colon);
    }
    for (const std::string_view registry : {"docker.io/", "library/"}) {
      if (image.starts_with(registry)) image.erase(0, registry.size());
    }
    result_.name = image;
    result_.key = "docker:" + image;
    result_.arguments = from(words, launch.program + 1);
  }

  void runner(const KnownLauncher& launcher, const Launch& launch, const Words& words) {
    std::size_t program = launch.program;
    if (launcher.name == "timeout") ++program;  // the time
    enter(launch.value_of({"-C", "--chdir", "--cd", "-D"}));
    if (launcher.name == "cargo" || launcher.name == "go") return from_source(launcher, launch, words);
    if (!launcher.subcommands.empty() && launch.subcommand.empty()) return plain(words, "");
    if (program < words.size() && words[program] == "--") ++program;
    if (program < words.size()) follow(from(words, program), "");
  }

  /// `go run ./cmd`, `cargo run --bin x`: what runs is built from a directory.
  void from_source(const KnownLauncher& launcher, const Launch& launch, const Words& words) {
    if (launch.subcommand.empty()) return plain(words, "");
    if (launcher.name == "cargo") {
      const std::string manifest = launch.value_of({"--manifest-path"});
      return script(manifest.empty() ? "." : manifest, from(words, launch.program));
    }
    if (launch.program >= words.size()) return;
    const std::string& target = words[launch.program];
    if (target.starts_with(".") || target.starts_with("/") || target.ends_with(".go")) {
      return script(target, from(words, launch.program + 1));
    }
    result_.name = base_name(target.substr(0, target.find('@')));
    result_.key = "go:" + target.substr(0, target.find('@'));
    result_.arguments = from(words, launch.program + 1);
  }

  void corral(const Launch& launch, const Words& words) {
    if (launch.subcommand.empty()) return plain(words, "");
    // Its options have values that we need not know: the command comes after the first "--".
    const auto dashes = std::find(words.begin(), words.end(), "--");
    if (dashes == words.end()) return;
    follow(Words(dashes + 1, words.end()), "");
  }

  /// A program that is not in the table of launchers.
  void plain(const Words& words, const std::string& executable) {
    result_.name = base_name(words.front());
    result_.arguments = from(words, 1);
    const std::string program =
        executable.empty() ? find_program(words.front(), directory_, path_) : executable;
    if (program.empty()) {
      // It is not here. What it would be called is still worth comparing, unless it depends on a directory.
      if (words.front().find('/') == std::string::npos || words.front().starts_with("/")) {
        result_.key = "file:" + words.front();
      }
      return;
    }
    const KnownLauncher* interpreter = find_launcher(base_name(program));
    if (interpreter != nullptr && interpreter->kind == LauncherKind::Interpreter && words.size() == 1) {
      result_.key = "file:" + program + " " + words.front();  // a script that gave its process a title
      result_.launcher = interpreter->name;
      return;
    }
    if (executable.empty()) return file(program);
    result_.script = program;
    result_.key = "file:" + program;
  }

  void module(const std::string& interpreter, const std::string& name, Words arguments) {
    result_.arguments = std::move(arguments);
    identify_module(interpreter, name, directory_, result_);
  }

  /// A script in the words of its interpreter.
  void script(const std::string& given, Words arguments) {
    result_.arguments = std::move(arguments);
    if (!is_launcher(given)) identify_script(given, directory_, result_);
  }

  void file(const std::string& real) {
    if (!is_launcher(real)) identify_file(real, result_);
  }

  /// Some launchers are scripts themselves: `node …/npx-cli.js` is npx. Goes on with what such a one
  /// launches.
  bool is_launcher(const std::string& path) {
    const std::string launcher = launcher_of_script(path);
    if (launcher.empty()) return false;
    follow_as(launcher.c_str(), std::exchange(result_.arguments, {}));
    return true;
  }

  ServerCommand result_;
  std::string directory_;
  const std::string& path_;
  int depth_ = 0;
};

/// npm gives its process a title: the whole command line in the first word, and empty ones up to the old
/// length.
std::vector<std::string> words_of(const std::vector<std::string>& argv) {
  std::vector<std::string> words = argv;
  while (words.size() > 1 && words.back().empty()) words.pop_back();
  if (words.size() != 1 || words.front().find('/') == 0) return words;
  for (const std::string_view title : {"npm ", "npx ", "pnpm ", "yarn "}) {
    if (!words.front().starts_with(title)) continue;
    std::vector<std::string> split;
    const std::string& text = words.front();
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find(' ', begin), text.size());
      if (end > begin) split.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
    return split;
  }
  return words;
}

}  // namespace

ServerCommand understand(const std::vector<std::string>& argv, const std::string& executable,
                         const std::string& directory, const std::string& path) {
  const std::vector<std::string> words = words_of(argv);
  if (words.empty()) return {};
  ServerCommand command = Reader(directory, path).read(words, executable);
  // `uvx git+https://user:token@host/…` names a package by a URL, and a program may put anything into its
  // title.
  command.name = show_command({command.name});
  if (command.version.find("://") != std::string::npos) command.version.clear();
  return command;
}

namespace {

/// "corral" of "/usr/bin/corral" and "corral@1.2".
bool is_corral(std::string_view word) {
  const std::string name = base_name(word.substr(0, word.find('@', 1)));
  return name == "corral";
}

std::vector<std::string> words_in(std::string_view line) {
  std::vector<std::string> words;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find_first_of(" \t\n;&|"), line.size());
    if (end > 0) words.emplace_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return words;
}

/// What a launcher runs: the words from the first one that is neither an option, a variable nor a subcommand.
std::vector<std::string> behind_launcher(const KnownLauncher& launcher,
                                         const std::vector<std::string>& argv) {
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const std::string& word = argv[i];
    const bool in_shell = launcher.kind == LauncherKind::Shell;
    const bool subcommand = contains(launcher.subcommands, word) || word == "exec" || word == "dlx";
    const std::size_t sign = word.find('=');
    const bool assigns = sign != std::string::npos && sign < word.find('/') && sign < word.find(' ');
    if (word.empty() || word.front() == '-' || assigns || subcommand) continue;
    if (!in_shell) return {argv.begin() + static_cast<std::ptrdiff_t>(i), argv.end()};
    std::vector<std::string> inside = words_in(word);
    const auto program = std::find_if(inside.begin(), inside.end(), [](const std::string& part) {
      return part != "exec" && part.find('=') == std::string::npos;
    });
    return {program, inside.end()};
  }
  return {};
}

}  // namespace

bool goes_through_corral(const std::vector<std::string>& argv) {
  std::vector<std::string> words = argv;
  for (int depth = 0; depth < kMostLaunchers && !words.empty(); ++depth) {
    if (is_corral(words.front())) return true;
    const KnownLauncher* const launcher = find_launcher(base_name(words.front()));
    const bool runs_others =
        launcher != nullptr &&
        (launcher->kind == LauncherKind::Shell || launcher->kind == LauncherKind::Runner ||
         launcher->kind == LauncherKind::NodePackage || launcher->kind == LauncherKind::PythonPackage);
    if (!runs_others) return false;
    words = behind_launcher(*launcher, words);
  }
  return false;
}

}  // namespace corral::known
