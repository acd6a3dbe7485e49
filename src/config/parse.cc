// Parses the top level of a configuration file.
#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cstdint>
#include <set>

#include "config/configuration.h"
#include "config/daemon_objects.h"
#include "config/entry.h"
#include "config/file.h"
#include "config/locks.h"
#include "config/reading.h"
#include "known/config_text.h"

namespace corral::config {
namespace {

namespace json = boost::json;

const std::string kTopLevel = "the file";

constexpr std::uint64_t kSmallestLineCap = std::uint64_t{64} << 10;
constexpr std::uint64_t kLargestLineCap = std::uint64_t{1} << 30;

/// Top-level keys of clients that have no effect on servers.
constexpr std::array<std::string_view, 6> kHarmless = {"$schema", "inputs",   "imports",
                                                       "version", "$comment", "_comment"};

bool can_be_in(const std::string& object, const std::string& key) {
  const auto among = [&](const auto& keys) { return std::find(keys.begin(), keys.end(), key) != keys.end(); };
  return object == "http" ? among(kHttpKeys) : object == "watch" && among(kWatchKeys);
}

class TopLevel {
 public:
  TopLevel(Reading& reading, Configuration& result) : reading_(reading), result_(result) {}

  void read(const json::value& root, std::size_t offset) {
    if (!root.is_object()) {
      return reading_.fail(offset, "the file must contain an object", R"(Write {"mcpServers": {}})");
    }
    reading_.each_member(root, offset, kTopLevel, [this](const Field& field) { member(field); });
    // Last, because they may name any server.
    if (locked_) read_locks(reading_, *locked_, result_);
    // A file beside another one may have only options.
    if (reading_.failed() || has_servers_ || !result_.machine_file.empty()) return;
    reading_.warn(offset, "there is no \"mcpServers\", so there are no servers",
                  "Add it, or run `corral import FILE` with a client's file");
  }

 private:
  void member(const Field& field) {
    if (field.key == "mcpServers" || field.key == "servers") return servers(field);
    if (field.key == "corral") return options(field);
    if (std::find(kHarmless.begin(), kHarmless.end(), field.key) != kHarmless.end()) return;
    reading_.warn_unknown(field, {"mcpServers", "servers", "corral"});
  }

  void servers(const Field& field) {
    has_servers_ = true;
    if (!field.value.is_object()) {
      return reading_.fail(field.place.value, field.naming() + " must be an object",
                           R"(Write {"NAME": {"command": "PROGRAM"}})");
    }
    reading_.each_member(field.value, field.place.value, field.naming(), [this](const Field& entry) {
      if (!names_.insert(entry.key).second) {  // once in "mcpServers" and once in "servers"
        return reading_.fail(entry.place.key, entry.naming() + " occurs twice", "Keep one of them");
      }
      if (reading_.is_locked(entry, key_of_server(entry.key))) return;
      std::optional<Server> server = read_entry(reading_, entry);
      if (server) result_.servers.push_back(std::move(*server));
    });
  }

  void options(const Field& field) {
    if (!field.value.is_object()) {
      return reading_.fail(field.place.value, field.naming() + " must be an object",
                           R"(Write "corral": {"drain": "5s"})");
    }
    reading_.each_member(field.value, field.place.value, "the top-level \"corral\"",
                         [this](const Field& option) { this->option(option); });
  }

  void option(const Field& field) {
    if (field.key == "locked") return locks(field);
    if (!is_known(reading_, field, kDaemonKeys) || reading_.is_locked(field, field.key)) return;
    remember_place(field);
    Options& options = result_.options;
    if (field.key == "line_cap") return line_cap(field);
    if (field.key == "drain") return duration(field, options.drain);
    if (field.key == "linger") return duration(field, options.linger);
    if (field.key == "max_instances") return count(field, 1, options.max_instances);
    if (field.key == "keep") return count(field, 0, options.keep);
    if (field.key == "http") return read_http(reading_, field, options.http);
    if (field.key == "watch") return read_watch(reading_, field, options.watch);
    if (field.key == "min_version") return version(field, options.min_version);
    if (field.key == "unattended") return unattended(field);
    history(field);
  }

  void locks(const Field& field) {
    if (reading_.machine() == nullptr) {
      locked_.emplace(field);
      return;
    }
    reading_.warn(field.place.key, field.naming() + " has no effect in this file",
                  std::string("Only ") + kMachineFile + " can lock keys");
  }

  /// Of an object: the place of each member.
  void remember_place(const Field& field) {
    const auto remember = [this](const std::string& key, const Field& one) {
      const FilePlace* const lock =
          reading_.machine() == nullptr ? nullptr : reading_.machine()->lock_of(key);
      if (lock == nullptr) result_.option_places[key] = {result_.file, reading_.line_of(one.place.key)};
    };
    if (!field.value.is_object()) return remember(field.key, field);
    reading_.each_member(field.value, field.place.value, "\"" + field.key + "\"", [&](const Field& member) {
      if (can_be_in(field.key, member.key)) {
        remember(field.key + "." + member.key, member);
      }
    });
  }

  void duration(const Field& field, std::chrono::milliseconds& target) {
    if (const auto time = reading_.duration(field)) target = *time;
  }

  void unattended(const Field& field) {
    if (const auto time = reading_.duration(field)) result_.options.unattended = *time;
  }

  void count(const Field& field, std::uint32_t least, std::size_t& target) {
    if (const auto number = reading_.whole_number(field, least)) target = *number;
  }

  void version(const Field& field, std::string& target) {
    if (auto text = reading_.version(field)) target = std::move(*text);
  }

  void history(const Field& field) {
    constexpr std::uint32_t kTenYears = 3650;
    if (const auto days = reading_.whole_number(field, 0, kTenYears)) {
      result_.options.history = std::chrono::hours(24 * *days);
    }
  }

  void line_cap(const Field& field) {
    const std::optional<std::uint64_t> size = reading_.size(field);
    if (!size) return;
    if (*size < kSmallestLineCap || *size > kLargestLineCap) {
      return reading_.fail(field.place.value, field.naming() + " is out of range", "Write 64K to 1G");
    }
    result_.options.line_cap = *size;
  }

  Reading& reading_;
  Configuration& result_;
  std::set<std::string, std::less<>> names_;
  std::optional<Field> locked_;
  bool has_servers_ = false;
};

/// Reads the file into `result`. `machine` is below it; null = it is the machine's own.
Result<void> read_file(const std::string& text, const Configuration* machine, Configuration& result) {
  if (text.size() > kLargestFile)
    return Error{result.file + ":1:1: the file is larger than 64 MiB. Make it smaller."};
  const known::ConfigText parsed = known::parse_json_config(text);
  if (!parsed.error.empty()) return parse_error(result.file, parsed.error);
  Reading reading(text, result.file, machine);
  TopLevel(reading, result).read(parsed.value, skip_blanks(text, 0));
  if (reading.failed()) return *reading.error();
  std::vector<std::string> warnings = reading.take_warnings();
  result.warnings.insert(result.warnings.end(), warnings.begin(), warnings.end());
  result.overruled = reading.take_overruled();
  return {};
}

}  // namespace

Result<Configuration> parse(const std::string& text, const std::string& file, const Configuration& machine) {
  Configuration result = machine;
  result.file = file;
  result.servers.clear();
  const Result<void> read = read_file(text, &machine, result);
  if (!read) return read.error();
  for (const Server& server : machine.servers) {
    if (result.find(server.name) == nullptr) result.servers.push_back(server);
  }
  return result;
}

Result<Configuration> parse_machine(const std::string& text, const std::string& file) {
  Configuration result = default_configuration();
  result.file = file;
  result.machine_file = file;
  Result<void> read = read_file(text, nullptr, result);
  // Rather cut off than meant: what it locked is not known any more.
  if (read && skip_blanks(text, 0) >= text.size()) {
    read = Error{file + ":1:1: the file is empty. Write {} if nothing is to be set."};
  }
  if (!read) {
    return Error{read.error().message +
                 " This is the administrator's file: corral does not go on without it, because it may lock "
                 "keys. Ask the administrator of this machine."};
  }
  // Otherwise a variable of the user would set what is locked.
  if (result.lock_of("keep") != nullptr && !result.option_places.contains("keep")) {
    result.options.keep = kDefaultKeep;
  }
  return result;
}

}  // namespace corral::config
