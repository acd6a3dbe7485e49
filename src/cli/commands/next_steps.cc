#include "cli/commands/next_steps.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "config/configuration.h"
#include "known/config_places.h"
#include "known/known_programs.h"
#include "proc/command_lookup.h"

namespace corral::cli {
namespace {

bool in_path(const known::KnownClient& client, const std::vector<std::string>& environment) {
  return std::any_of(client.executables.begin(), client.executables.end(), [&](std::string_view program) {
    return proc::find_command(std::string(program), environment, "").has_value();
  });
}

/// A file of the user, whatever the directory is in which this command runs.
bool has_file(const known::ConfigFile& file, const std::vector<std::string>& environment) {
  if (known::scope_of(file) != known::ConfigScope::User) return false;
  const std::string home(proc::environment_value(environment, "HOME"));
  const std::vector<known::PlacedFile> placed = known::places_of(file, {home, environment, {}});
  return std::any_of(placed.begin(), placed.end(), [](const known::PlacedFile& one) {
    std::error_code unknown;
    return one.path.starts_with("/") && std::filesystem::exists(one.path, unknown);
  });
}

bool is_installed(std::string_view id, const std::vector<std::string>& environment) {
  const known::KnownClient* const client = known::find_client(id);
  if (client == nullptr) return false;
  return in_path(*client, environment) ||
         std::any_of(client->configs.begin(), client->configs.end(),
                     [&](const known::ConfigFile& file) { return has_file(file, environment); });
}

}  // namespace

std::vector<std::string> own_variables() {
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) variables.emplace_back(*entry);
  return variables;
}

std::vector<std::string> connect_words(const std::string& runtime_dir, const std::string& config,
                                       const std::string& name) {
  std::error_code unknown;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", unknown).string();
  const Result<proc::Executable> found = proc::find_command("corral", own_variables(), "");
  const bool on_path = found && std::filesystem::equivalent(found->path, self, unknown);
  std::vector<std::string> words = {on_path ? "corral" : self, "connect"};
  const auto add_path = [&words](const char* option, const std::string& path) {
    if (!path.empty()) words.insert(words.end(), {option, std::filesystem::absolute(path).string()});
  };
  add_path("--runtime-dir", runtime_dir);
  add_path("--config", config);
  words.push_back(name);
  return words;
}

std::vector<ClientTitle> installed_clients(const std::vector<std::string>& environment) {
  std::vector<ClientTitle> clients = client_titles();
  std::erase_if(clients, [&](const ClientTitle& title) { return !is_installed(title.id, environment); });
  return clients;
}

void show_next_steps(Page& page, const std::string& config, const std::string& name) {
  const bool usual = config == config::default_file();
  const std::string with = usual ? "" : " --config " + shell_word(config);
  page.command("Next: ", "corral tools" + with + " " + shell_word(name));
  const Endpoint endpoint{name, "", connect_words("", usual ? "" : config, name)};
  const std::vector<ClientTitle> clients = installed_clients(own_variables());
  if (clients.empty()) {
    return page.command("In a client: ", printable(address_of(endpoint, ClientTransport::Stdio)));
  }
  for (const ClientTitle& title : clients) {
    page.command("In " + std::string(title.title) + ": ", printable(stdio_line(title.client, endpoint)));
  }
}

}  // namespace corral::cli
