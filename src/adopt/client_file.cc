#include "adopt/client_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/words.h"
#include "config/file.h"
#include "config/reading.h"
#include "known/config_text.h"

namespace corral::adopt {
namespace {

bool exists(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

std::string real_name(const std::string& path) {
  std::error_code unknown;
  const std::filesystem::path real = std::filesystem::canonical(path, unknown);
  return unknown ? path : real.string();
}

/// Collects files and their tables; a file that two rows of the table name is one file with two tables.
class FileList {
 public:
  void add(const known::KnownClient& client, const known::ConfigFile& row, const std::string& path) {
    const std::string real = real_name(path);
    const auto known = std::find(real_names_.begin(), real_names_.end(), real);
    const auto index = static_cast<std::size_t>(known - real_names_.begin());
    if (known == real_names_.end()) {
      real_names_.push_back(real);
      files_.push_back({&client, known::scope_of(row), path, {}});
    }
    std::vector<std::string>& tables = files_[index].tables;
    if (!contains(tables, row.servers)) tables.emplace_back(row.servers);
  }

  std::vector<ClientFile> take() { return std::move(files_); }

 private:
  std::vector<ClientFile> files_;
  std::vector<std::string> real_names_;  // of the same files
};

}  // namespace

std::vector<ClientFile> find_files(const known::ConfigPlaces& places,
                                   const std::vector<std::string>& clients) {
  FileList list;
  for (const known::KnownClient& client : known::known_clients()) {
    if (!clients.empty() && !contains(clients, client.id)) continue;
    for (const known::ConfigFile& row : client.configs) {
      for (const known::PlacedFile& place : known::places_of(row, places)) {
        if (exists(place.path)) list.add(client, row, place.path);
      }
    }
  }
  return list.take();
}

known::ConfigFormat format_of(const std::string& file) {
  return file.ends_with(".toml") ? known::ConfigFormat::Toml : known::ConfigFormat::Json;
}

Result<std::vector<FoundServer>> read_servers(const ClientFile& file, const std::string& text,
                                              Through through) {
  const known::ConfigFormat format = format_of(file.path);
  const known::ConfigText parsed = known::parse_config(text, format);
  if (!parsed.error.empty()) return config::parse_error(file.path, parsed.error);
  std::vector<FoundServer> found;
  for (const std::string& table : file.tables) {
    for (EntryText& entry : find_entries({text, parsed.value, format}, table)) {
      Judgement judged = judge(entry, {*file.client, file.scope, through});
      std::string hash = hash_of(entry.value);
      entry.table = table;
      found.push_back({std::move(entry), std::move(judged), std::move(hash)});
    }
  }
  return found;
}

FileLook look_at(const ClientFile& file, Through through) {
  FileLook look{file, {}, {}};
  const Result<config::FileText> text = config::read_text(file.path);
  if (!text) {
    look.error = text.error().message;
    return look;
  }
  Result<std::vector<FoundServer>> servers = read_servers(file, text->text, through);
  if (servers) {
    look.servers = std::move(*servers);
  } else {
    look.error = servers.error().message;
  }
  return look;
}

}  // namespace corral::adopt
