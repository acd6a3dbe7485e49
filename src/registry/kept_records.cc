#include "registry/kept_records.h"

#include <sys/stat.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "registry/schema.h"
#include "registry/sqlite.h"
#include "registry/tables.h"

namespace corral::registry {
namespace {

constexpr int kReadersPatience = 2000;  // milliseconds

Error unreadable(const std::string& file, const std::string& why) {
  return Error{"the registry " + file + " cannot be read: " + why};
}

Error missing(const std::string& file) {
  return Error{"no daemon has kept anything here: there is no registry " + file, Error::Kind::NotFound};
}

/// To follow "cannot be read: ".
std::string why_unreadable(Trouble trouble) {
  switch (trouble) {
    case Trouble::None: return {};
    case Trouble::Busy: return "another process has locked it; try again";
    case Trouble::Corrupt: return "it is damaged. The next daemon moves it away and begins a new one";
    case Trouble::ReadOnly:
    case Trouble::NoRoom: return "a file beside it, which SQLite needs to read it, cannot be created";
    case Trouble::Full: return "the disk is full";
    case Trouble::Refused: return "its tables are not those of a registry";
    case Trouble::Disk: break;
  }
  return "an input/output error occurred";
}

/// The path without symbolic links, if a regular file is there. A FIFO would block the reader.
Result<std::string> file_to_read(const std::string& path) {
  char whole[PATH_MAX];
  struct stat status {};
  if (realpath(path.c_str(), whole) == nullptr || stat(whole, &status) != 0) {
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR) return missing(path);
    return unreadable(path, strerror(error));
  }
  if (!S_ISREG(status.st_mode)) return unreadable(path, "it is not a regular file");
  return {boost::system::in_place_value, whole};
}

/// Why the tables cannot be read; empty if they can.
std::string objection_to(const SchemaLook& look) {
  switch (look.state) {
    case SchemaState::Ours: return {};
    case SchemaState::Newer:
      return "a newer corral wrote it (schema version " + std::to_string(look.version) + "; this one knows " +
             std::to_string(schema_version()) + "). Use the newer corral";
    case SchemaState::Older: return "a corral before 0.1.0 wrote it. The next daemon begins a new one";
    case SchemaState::Foreign: break;
  }
  return "it is a database of another program. Move it away";
}

}  // namespace

KeptRecords::KeptRecords(std::string file, std::unique_ptr<Database> database)
    : file_(std::move(file)), database_(std::move(database)), tables_(std::make_unique<Tables>(*database_)) {}

KeptRecords::KeptRecords(KeptRecords&& other) noexcept = default;
KeptRecords& KeptRecords::operator=(KeptRecords&& other) noexcept = default;
KeptRecords::~KeptRecords() = default;

Result<KeptRecords> KeptRecords::open(const std::string& path) {
  if (path.empty()) return Error{"there is no registry: set HOME or XDG_STATE_HOME"};
  Result<std::string> file = file_to_read(path);
  if (!file) return file.error();
  Trouble trouble = Trouble::None;
  auto database = std::make_unique<Database>(Database::open_to_read(*file, trouble));
  if (trouble != Trouble::None) return unreadable(*file, why_unreadable(trouble));
  database->wait_for_locks(kReadersPatience);
  const SchemaLook look = look_at_schema(*database);
  if (look.trouble != Trouble::None) return unreadable(*file, why_unreadable(look.trouble));
  if (look.state == SchemaState::Ours && look.version == 0) {
    return Error{"no daemon has kept anything here: the registry " + *file + " is empty",
                 Error::Kind::NotFound};
  }
  if (const std::string objection = objection_to(look); !objection.empty()) {
    return unreadable(*file, objection);
  }
  KeptRecords records(std::move(*file), std::move(database));
  if (!records.tables_->readable()) return unreadable(records.file_, why_unreadable(Trouble::Refused));
  return records;
}

Result<void> KeptRecords::oldest_first(const Take& take) {
  const Trouble trouble = tables_->each_event(Tables::Order::OldestFirst, take);
  if (trouble != Trouble::None) return unreadable(file_, why_unreadable(trouble));
  return {};
}

Result<void> KeptRecords::newest_first(const Take& take) {
  const Trouble trouble = tables_->each_event(Tables::Order::NewestFirst, take);
  if (trouble != Trouble::None) return unreadable(file_, why_unreadable(trouble));
  return {};
}

Result<void> KeptRecords::each_manifest(
    const std::function<void(const std::string& server, std::string text)>& take) {
  const Trouble trouble = tables_->each_manifest(take);
  if (trouble != Trouble::None) return unreadable(file_, why_unreadable(trouble));
  return {};
}

Result<std::vector<InstanceRecord>> KeptRecords::last_instances(std::size_t most) {
  Trouble trouble = Trouble::None;
  std::vector<InstanceRecord> found = tables_->last_instances(most, trouble);
  if (trouble != Trouble::None) return unreadable(file_, why_unreadable(trouble));
  return found;
}

}  // namespace corral::registry
