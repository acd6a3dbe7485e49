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

class TopLevel {
 public:
  TopLevel(Reading& reading, Configuration& result) : reading_(reading), result_(result) {}

  void read(const json::value& root, std::size_t offset) {
    if (!root.is_object()) {
      return reading_.fail(offset, "the file must contain an object", R"(Write {"mcpServers": {}})");
    }
    reading_.each_member(root, offset, kTopLevel, [this](const Field& field) { member(field); });
    if (reading_.failed() || has_servers_) return;
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
    Options& options = result_.options;
    if (field.key == "line_cap") return line_cap(field);
    if (field.key == "drain") return duration(field, options.drain);
    if (field.key == "linger") return duration(field, options.linger);
    if (field.key == "max_instances") return count(field, 1, options.max_instances);
    if (field.key == "keep") return count(field, 0, options.keep);
    if (field.key == "http") return read_http(reading_, field, options.http);
    if (field.key == "watch") return read_watch(reading_, field, options.watch);
    if (field.key == "min_version") return version(field, options.min_version);
    if (field.key == "history") return history(field);
    reading_.warn_unknown(field, {"line_cap", "drain", "linger", "max_instances", "keep", "http", "watch",
                                  "min_version", "history"});
  }

  void duration(const Field& field, std::chrono::milliseconds& target) {
    if (const auto time = reading_.duration(field)) target = *time;
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
  bool has_servers_ = false;
};

}  // namespace

Result<Configuration> parse(const std::string& text, const std::string& file) {
  if (text.size() > kLargestFile)
    return Error{file + ":1:1: the file is larger than 64 MiB. Make it smaller."};
  const known::ConfigText parsed = known::parse_json_config(text);
  if (!parsed.error.empty()) return parse_error(file, parsed.error);
  Configuration result = default_configuration();
  result.file = file;
  Reading reading(text, file);
  TopLevel(reading, result).read(parsed.value, skip_blanks(text, 0));
  if (reading.failed()) return *reading.error();
  result.warnings = reading.take_warnings();
  return result;
}

}  // namespace corral::config
