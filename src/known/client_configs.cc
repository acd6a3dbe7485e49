#include "known/client_configs.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <tuple>

#include "base/text.h"
#include "known/config_text.h"
#include "known/package_manifest.h"

namespace corral::known {
namespace {

namespace json = boost::json;

constexpr std::size_t kLargestFile = 64 << 20;  // ~/.claude.json holds whole histories

/// `${NAME}`, `${NAME:-default}`, `${env:NAME}`, `${workspaceFolder}`, `${userHome}`. What is not known stays
/// as it is.
class Expansion {
 public:
  Expansion(const ConfigPlaces& places, const std::string& project) : places_(places), project_(project) {}

  std::string of(std::string_view text) const {
    std::string whole;
    while (!text.empty()) {
      const std::size_t begin = text.find("${");
      const std::size_t end = begin == std::string_view::npos ? begin : text.find('}', begin);
      if (end == std::string_view::npos) break;
      whole += text.substr(0, begin);
      const std::string_view inside = text.substr(begin + 2, end - begin - 2);
      const std::optional<std::string> value = value_of(inside);
      whole += value ? *value : std::string(text.substr(begin, end - begin + 1));
      text.remove_prefix(end + 1);
    }
    return whole + std::string(text);
  }

 private:
  std::optional<std::string> value_of(std::string_view name) const {
    if (name == "userHome") return known(places_.home);
    if (name == "workspaceFolder" || name == "workspaceRoot") return known(project_);
    if (name.starts_with("env:")) name.remove_prefix(4);
    const std::size_t fallback = name.find(":-");
    const std::string value = variable(places_.environment, std::string(name.substr(0, fallback)));
    if (value.empty() && fallback != std::string_view::npos) return std::string(name.substr(fallback + 2));
    return known(value);
  }

  static std::optional<std::string> known(const std::string& value) {
    return value.empty() ? std::nullopt : std::optional(value);
  }

  const ConfigPlaces& places_;
  const std::string& project_;
};

/// Takes the servers out of one parsed file.
class Extraction {
 public:
  Extraction(const ConfigFile& place, std::string file, const KnownClient& client, const ConfigPlaces& places)
      : place_(place), file_(std::move(file)), client_(client), places_(places) {}

  Configurations from(const json::value& root, const std::string& project) {
    walk(root, place_.servers, project);
    return std::move(found_);
  }

 private:
  void note(const std::string& message) { found_.notes.push_back({file_, message}); }

  void walk(const json::value& value, std::string_view keys, const std::string& project) {
    if (!value.is_object()) {
      return note("what should be a table of servers is something else (" + std::string(place_.servers) +
                  "): correct the file");
    }
    if (keys.empty()) return table(value.get_object(), project);
    const std::string_view key = keys.substr(0, keys.find('/'));
    const std::string_view rest =
        key.size() == keys.size() ? std::string_view() : keys.substr(key.size() + 1);
    for (const auto& [name, inner] : value.get_object()) {
      if (key == "*" && inner.is_object()) walk(inner, rest, std::string(name));
      if (key != "*" && key == std::string_view(name) && !inner.is_null()) walk(inner, rest, project);
    }
  }

  void table(const json::object& servers, const std::string& project) {
    for (const auto& [name, entry] : servers) {
      // A bare switch ("enabled": false) is not a server.
      if (entry.is_object()) server(std::string(name), entry.get_object(), project);
    }
  }

  void server(const std::string& name, const json::object& entry, const std::string& project) {
    ConfiguredServer server;
    server.client = client_.id;
    server.name = name;
    server.file = file_;
    server.project = project;
    if (entry.if_contains("command") != nullptr) {
      if (!command(entry, server)) return;
    } else if (!has_address(entry)) {
      return;  // neither: a switch or an override for a server that is defined elsewhere
    }
    found_.servers.push_back(std::move(server));
  }

  static bool has_address(const json::object& entry) {
    for (const std::string_view key : {"url", "httpUrl", "serverUrl", "baseUrl"}) {
      const json::value* address = entry.if_contains(key);
      if (address != nullptr && address->is_string()) return true;
    }
    return false;
  }

  bool command(const json::object& entry, ConfiguredServer& server) {
    const Expansion expansion(places_, server.project);
    const json::object* holder = &entry;
    const json::value* value = entry.if_contains("command");
    if (value->is_object()) {  // Zed's older form: {"command": {"path": …, "args": […]}}
      holder = &value->get_object();
      value = holder->if_contains("path");
    }
    bool good = value != nullptr && (value->is_string() || value->is_array());
    if (good && value->is_string()) server.argv.push_back(at_home(expansion.of(value->get_string())));
    if (good && value->is_array()) good = append(value->get_array(), expansion, server.argv);
    if (!good || server.argv.empty() || server.argv.front().empty()) return refuse(server.name, "command");
    if (const json::value* arguments = holder->if_contains("args");
        arguments != nullptr && !arguments->is_null()) {
      if (!arguments->is_array() || !append(arguments->get_array(), expansion, server.argv)) {
        return refuse(server.name, "args");
      }
    }
    const json::value* directory = entry.if_contains("cwd");
    const bool own = directory != nullptr && directory->is_string();
    server.command = understand(server.argv, "", own ? expansion.of(directory->get_string()) : server.project,
                                variable(places_.environment, "PATH"));
    return true;
  }

  bool refuse(const std::string& name, const char* key) {
    note("server '" + printable(name) + "' has a \"" + key +
         "\" of the wrong type: correct it, or this server is not " + "recognised");
    return false;
  }

  static bool append(const json::array& values, const Expansion& expansion, std::vector<std::string>& argv) {
    for (const json::value& value : values) {
      if (value.is_string()) {
        argv.push_back(expansion.of(value.get_string()));
      } else if (value.is_number() || value.is_bool()) {
        argv.push_back(json::serialize(value));  // as the client would turn it into a string
      } else {
        return false;
      }
    }
    return true;
  }

  std::string at_home(const std::string& command) const {
    return command.starts_with("~/") && !places_.home.empty() ? places_.home + command.substr(1) : command;
  }

  const ConfigFile& place_;
  std::string file_;
  const KnownClient& client_;
  const ConfigPlaces& places_;
  Configurations found_;
};

/// Walks the table; one file is read once, however many ways lead to it and however many tables are in it.
class Walk {
 public:
  explicit Walk(const ConfigPlaces& places) : places_(places) {}

  Configurations run() {
    for (const KnownClient& client : known_clients()) {
      for (const ConfigFile& place : client.configs) {
        for (const PlacedFile& candidate : places_of(place, places_)) look_at(candidate, place, client);
      }
    }
    return std::move(all_);
  }

 private:
  void look_at(const PlacedFile& candidate, const ConfigFile& place, const KnownClient& client) {
    struct stat status {};
    if (stat(candidate.path.c_str(), &status) != 0) {
      // Not there is the rule; not allowed to look is worth a word.
      if (errno != ENOENT && errno != ENOTDIR) unreadable(candidate.path, errno);
      return;
    }
    // In a directory that everybody may write to, a file of another user could name any program of this user.
    if (status.st_uid != geteuid() && status.st_uid != 0) {
      all_.notes.push_back({candidate.path, "belongs to another user, so it is not believed"});
      return;
    }
    const auto seen = std::make_tuple(status.st_dev, status.st_ino, std::string(place.servers));
    if (std::find(seen_.begin(), seen_.end(), seen) != seen_.end()) return;
    seen_.push_back(seen);
    if (candidate.path != current_path_) load(candidate.path, place.format);
    if (!current_) return;
    merge(Extraction(place, candidate.path, client, places_).from(*current_, candidate.project));
  }

  void load(const std::string& path, ConfigFormat format) {
    current_path_ = path;
    current_.reset();
    const std::optional<std::string> text = read_small_file(path, kLargestFile);
    if (!text) return unreadable(path, errno);
    ConfigText parsed = parse_config(*text, format);
    if (!parsed.error.empty()) {
      all_.notes.push_back({path, parsed.error + "; correct it, or its servers are not recognised"});
      return;
    }
    all_.files.push_back(path);
    current_ = std::move(parsed.value);
  }

  void unreadable(const std::string& path, int error) {
    std::string cause = strerror(error);
    if (error == EFBIG) cause = "it is larger than 64 MiB";
    if (error == EINVAL) cause = "it is not a regular file";
    const std::string message = "cannot be read: " + cause + "; its servers are not recognised";
    const auto same = [&](const ConfigNote& note) { return note.file == path && note.message == message; };
    if (std::none_of(all_.notes.begin(), all_.notes.end(), same)) all_.notes.push_back({path, message});
  }

  void merge(Configurations found) {
    std::move(found.servers.begin(), found.servers.end(), std::back_inserter(all_.servers));
    std::move(found.notes.begin(), found.notes.end(), std::back_inserter(all_.notes));
  }

  const ConfigPlaces& places_;
  Configurations all_;
  std::string current_path_;
  std::optional<json::value> current_;  // what is in the file at current_path_, if it was understood
  std::vector<std::tuple<dev_t, ino_t, std::string>> seen_;
};

}  // namespace

Configurations read_client_configs(const ConfigPlaces& places) { return Walk(places).run(); }

Configurations parse_client_config(const std::string& text, const ConfigFile& place, const std::string& name,
                                   const KnownClient& client, const ConfigPlaces& places) {
  const ConfigText parsed = parse_config(text, place.format);
  if (!parsed.error.empty()) {
    return {{}, {}, {{name, parsed.error + "; correct it, or its servers are not recognised"}}};
  }
  Configurations found = Extraction(place, name, client, places).from(parsed.value, "");
  found.files.push_back(name);
  return found;
}

}  // namespace corral::known
