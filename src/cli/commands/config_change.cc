#include "cli/commands/config_change.h"

#include <unistd.h>

#include <boost/json.hpp>
#include <chrono>
#include <filesystem>
#include <iostream>

#include "base/text.h"
#include "cli/frame/daemon_command.h"
#include "cli/frame/option_values.h"
#include "cli/screen/page.h"
#include "config/configuration.h"
#include "config/file.h"
#include "config/locks.h"
#include "control/hello.h"

namespace corral::cli {
namespace {

namespace json = boost::json;

std::string real_path(const std::string& file) {
  std::error_code unknown;
  const std::filesystem::path real = std::filesystem::weakly_canonical(file, unknown);
  return unknown ? file : real.string();
}

/// The daemon watches its file and would notice the change by itself. We ask it anyway, so that the change is
/// in force when we report it.
std::string ask_to_reload(const std::string& command, const std::string& runtime_dir) {
  const control::DaemonAnswer answer =
      ask_patiently(command, runtime_dir, control::verb_hello(control::Verb::Reload));
  if (!answer.ok()) return "The running daemon has not applied the change: " + answer.text + ".";
  const Result<JsonAnswer> parsed = read_answer(answer);
  json::error_code error;
  const json::value* const ended = parsed ? parsed->value.find_pointer("/ended", error) : nullptr;
  const std::int64_t count = ended != nullptr && ended->is_int64() ? ended->get_int64() : 0;
  const std::string text = "The running daemon has applied the change";
  if (count == 0) return text + ".";
  return text + " and ended " + counted(static_cast<std::uint64_t>(count), "instance") + ".";
}

/// One sentence about the change and the daemon. The file is already written, so nothing here is a failure.
std::string tell_daemon(const ConfigChange& change) {
  const control::DaemonAnswer answer = control::ask_daemon(change.runtime_dir, control::status_hello());
  if (answer.kind == control::DaemonAnswer::Kind::NoDaemon)
    return as_sentence(control::no_daemon_is_running(control::Purpose::Adopt));
  if (!answer.ok()) return "It is not known whether the daemon has applied the change: " + answer.text + ".";
  const Result<JsonAnswer> status = read_answer(answer);
  std::string file = status ? observe::read_status(status->value).daemon.config : "";
  // There was no file of the user so far. The daemon watches the place where it will be.
  if (file.empty() || file == config::kMachineFile) file = config::default_file();
  // What the daemon sends has been made printable.
  if (printable(real_path(file)) != printable(real_path(change.config))) {
    return "The running daemon does not use this file; it uses " + shorten_home(file) + ".";
  }
  return ask_to_reload(change.command, change.runtime_dir);
}

}  // namespace

std::vector<Option> options_of(ConfigChange& change) {
  return {{"--config", "FILE", "Change this file instead of the default one", set_word(change.config)},
          runtime_dir_option(change.runtime_dir)};
}

Result<MachineSays> ask_machine(const std::string& name,
                                const std::vector<std::pair<std::string, std::string>>& options) {
  const Result<config::Configuration> machine = config::read_machine();
  if (!machine) return machine.error();
  MachineSays says;
  if (const config::FilePlace* const lock = machine->lock_of(config::key_of_server(name))) {
    says.objection = "the server '" + name + "' is locked by " + lock->text() +
                     ". Choose another name, or ask the administrator of this machine.";
    return says;
  }
  for (const auto& [key, word] : options) {
    const config::FilePlace* const lock = machine->lock_of(key);
    if (lock == nullptr) continue;
    says.objection = word;
    says.objection += " would have no effect, because " + lock->text() + " locks \"" + key;
    says.objection += "\". Leave it out, or ask the administrator of this machine.";
    return says;
  }
  const config::Server* const there = machine->find(name);
  if (there != nullptr) {
    says.note = "For you, it replaces the server of that name in " +
                config::FilePlace{there->file, there->line}.text() + ".";
  }
  return says;
}

int refuse_change(const std::string& command, const std::string& sentence) {
  std::cerr << "corral " << command << ": " << printable(sentence) << "\n";
  return 1;
}

std::string objection_to_changing(const std::string& config) {
  if (real_path(config) != config::kMachineFile) return "";
  return std::string("corral does not change the administrator's file. Edit '") + config::kMachineFile +
         "', and run `corral config check` on it.";
}

int change_configuration(const ConfigChange& change, const Rewrite& rewrite,
                         const std::function<std::string()>& done) {
  if (const std::string objection = objection_to_changing(change.config); !objection.empty()) {
    return refuse_change(change.command, objection);
  }
  Result<config::FileUpdate> update = config::FileUpdate::begin(change.config);
  if (!update) return refuse_change(change.command, update.error().message);
  const Result<std::string> text = rewrite(update->text());
  if (!text) return refuse_change(change.command, text.error().message);
  const Result<void> written = update->commit(*text);
  if (!written) return refuse_change(change.command, written.error().message);

  Page page(std::cout, terminal_style(STDOUT_FILENO));
  page.paragraph("", done() + " " + printable(shorten_home(change.config)) + ".");
  const std::string backup = update->backup();
  if (!backup.empty()) {
    page.paragraph("", "The old version is in " + printable(shorten_home(backup)) + ".");
  }
  page.paragraph("", printable(tell_daemon(change)));
  return 0;
}

}  // namespace corral::cli
