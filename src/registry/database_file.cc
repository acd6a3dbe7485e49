#include "registry/database_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <vector>

#include "base/unique_fd.h"
#include "base/unique_id.h"
#include "registry/schema.h"

namespace corral::registry {
namespace {

constexpr int kPatienceAtStart = 500;  // milliseconds: another daemon may be creating the tables
constexpr int kPatience = 40;          // clients wait in this time
constexpr std::size_t kMostPutAside = 3;
constexpr const char* kCorrupt = ".corrupt-";
constexpr const char* kOlder = ".older-";
constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;

std::string not_kept(const std::string& path, const std::string& cause) {
  return "the registry " + path + " is not used, so nothing is stored for the next daemon: " + cause;
}

/// Creates the directory and its parents, with private permissions.
bool make_folders(const std::string& path) {
  for (std::size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    const std::string part = path.substr(0, at);
    if (mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) {
      struct stat status {};
      // The directory may exist although we may not create anything in it.
      if (const int error = errno; stat(part.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
        errno = error;
        return false;
      }
    }
    if (at == std::string::npos) return true;
  }
}

/// Why the directory must not be used; empty if it may. Creates the directory and resolves its links.
std::string objection_to_folder(std::string& folder) {
  if (!make_folders(folder))
    return "the directory " + folder + " cannot be created: " + strerror(errno) + ". Correct this";
  char whole[PATH_MAX];
  struct stat status {};
  if (realpath(folder.c_str(), whole) == nullptr || stat(whole, &status) != 0) {
    return "the directory " + folder + " cannot be examined: " + strerror(errno) + ". Correct this";
  }
  folder = whole;
  if (!S_ISDIR(status.st_mode)) return folder + " is not a directory. Move it away";
  if (status.st_uid != geteuid()) {
    return "the directory " + folder + " belongs to user " + std::to_string(status.st_uid) +
           ". Use your own directory";
  }
  if ((status.st_mode & kOthersWrite) != 0) {
    return "other users may write to the directory " + folder + ". Run `chmod 700` on it";
  }
  if ((status.st_mode & S_IWUSR) == 0)
    return "the directory " + folder + " is read-only. Run `chmod 700` on it";
  return {};
}

/// Checks by name and not by a descriptor: closing one would drop the locks that SQLite holds on the file.
/// Only this user can write to the directory, so the file cannot be replaced in between.
std::string objection_to_file(const std::string& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) {
    return errno == ENOENT ? std::string()
                           : path + " cannot be examined: " + strerror(errno) + ". Correct this";
  }
  if (S_ISLNK(status.st_mode)) return path + " is a symbolic link. Remove it";
  if (!S_ISREG(status.st_mode)) return path + " is not a regular file. Remove it";
  if (status.st_uid != geteuid()) {
    return path + " belongs to user " + std::to_string(status.st_uid) + ", not to you. Remove it";
  }
  if ((status.st_mode & kOthersWrite) != 0) {
    return "other users may write to " + path +
           ". Run `chmod 600` on it if you trust its content, or remove it";
  }
  if ((status.st_mode & S_IWUSR) == 0) return path + " is read-only. Run `chmod 600` on it";
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) chmod(path.c_str(), S_IRUSR | S_IWUSR);
  return {};
}

std::string objection_to_files(const std::string& path) {
  for (const char* ending : {"", "-wal", "-shm", "-journal"}) {
    std::string objection = objection_to_file(path + ending);
    if (!objection.empty()) return objection;
  }
  return {};
}

/// SQLite would create it with the process's umask; its companion files get the same mode as the file.
bool make_file(const std::string& path) {
  const UniqueFd made(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  return made.valid() || errno == EEXIST;
}

/// Checks that need no SQLite; empty if the file exists and is private.
std::string prepare_file(const std::string& path, std::string& file) {
  const std::size_t slash = path.rfind('/');
  std::string folder = path.substr(0, slash);
  std::string objection = objection_to_folder(folder);
  file = folder + path.substr(slash);
  if (objection.empty()) objection = objection_to_files(file);
  if (objection.empty() && !make_file(file)) {
    objection = file + " cannot be created: " + strerror(errno) + ". Correct this";
  }
  return objection;
}

// ---- putting aside

std::string time_for_names() {
  const time_t now = time(nullptr);
  struct tm parts {};
  gmtime_r(&now, &parts);
  char text[32];
  strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &parts);
  return text;
}

/// Keeps only a few damaged files: a faulty disk would fill itself with them.
void forget_old_ones(const std::string& path) {
  const std::filesystem::path file(path);
  const std::string start = file.filename().string() + kCorrupt;
  std::vector<std::string> found;
  std::error_code error;
  for (std::filesystem::directory_iterator at(file.parent_path(), error), end; !error && at != end;
       at.increment(error)) {
    std::string name = at->path().filename().string();
    if (name.starts_with(start) && !name.ends_with("-wal")) found.push_back(at->path().string());
  }
  if (found.size() < kMostPutAside) return;
  std::sort(found.begin(), found.end());  // sorts by time, because of the format
  found.resize(found.size() - kMostPutAside + 1);
  for (const std::string& old : found) {
    unlink(old.c_str());
    unlink((old + "-wal").c_str());
  }
}

/// Returns the new path; empty if the file could not be moved. `mark` says in the new name why it was moved.
std::string put_aside(const std::string& path, const std::string& mark) {
  std::string place = path + mark + time_for_names();
  for (int number = 2; access(place.c_str(), F_OK) == 0 && number < 100; ++number) {
    place = path + mark + time_for_names() + "." + std::to_string(number);
  }
  if (rename(path.c_str(), place.c_str()) != 0) return {};
  rename((path + "-wal").c_str(), (place + "-wal").c_str());
  unlink((path + "-shm").c_str());  // an index that SQLite recreates
  unlink((path + "-journal").c_str());
  return place;
}

// ---- opening

/// After a power failure, only part of our writes may be on the disk; see decision 0027.
Trouble check_after_reboot(Database& database) {
  const std::string boot = boot_id();
  Trouble trouble = Trouble::None;
  const std::string known = database.text("SELECT value FROM facts WHERE name='boot_id'", trouble);
  if (trouble != Trouble::None || known == boot) return trouble;
  const std::string verdict = known.empty() ? "ok" : database.text("PRAGMA quick_check(1)", trouble);
  if (trouble != Trouble::None) return trouble;
  if (verdict != "ok") return Trouble::Corrupt;
  // If this cannot be written, the check is repeated next time.
  database.prepare("INSERT OR REPLACE INTO facts VALUES('boot_id', ?)").run(boot).finish();
  return Trouble::None;
}

/// Uses the directory, because the file may not exist yet. If the type is unknown, the directory counts as
/// local: the next step reports what is wrong with it.
Journal journal_beside(const std::string& file) {
  struct statfs status {};
  const std::string folder = file.substr(0, file.rfind('/') + 1);
  if (statfs(folder.c_str(), &status) != 0) return Journal::WriteAhead;
  // The kernel's numbers have 32 bits; the field may be signed and would be sign-extended.
  return journal_for(static_cast<std::uint32_t>(status.f_type));
}

Trouble set_up(Database& database, Journal journal) {
  // No wait for the disk here: the page cache survives our end, and after a power failure no process is left
  // to be found. The checkpoint ensures the order of writes (decision 0027).
  const Trouble trouble = database.execute(journal == Journal::WriteAhead
                                               ? "PRAGMA synchronous=OFF;"  // first: the next one writes
                                                 "PRAGMA journal_mode=WAL"
                                               : "PRAGMA synchronous=OFF;"
                                                 "PRAGMA journal_mode=DELETE");
  if (trouble != Trouble::None) return trouble;
  return database.execute(
      "PRAGMA wal_autocheckpoint=0;"
      "PRAGMA journal_size_limit=4194304;"
      "PRAGMA cache_size=-256;"
      "PRAGMA temp_store=MEMORY;"
      "PRAGMA secure_delete=OFF;"
      "PRAGMA cell_size_check=ON");
}

struct Attempt {
  Database database;
  Trouble trouble = Trouble::None;
  std::int64_t newer = 0;  // set to its version if a later corral wrote the file
  std::int64_t older = 0;  // set to its version if a corral before the first release wrote the file
};

Attempt attempt(const std::string& path, int patience, Journal journal) {
  Attempt made;
  made.database = Database::open(path, made.trouble);
  if (made.trouble != Trouble::None) return made;
  made.database.wait_for_locks(patience);
  const SchemaLook look = look_at_schema(made.database);
  made.trouble = look.trouble == Trouble::Refused ? Trouble::Corrupt : look.trouble;
  if (made.trouble != Trouble::None) return made;
  if (look.state == SchemaState::Foreign) made.trouble = Trouble::Corrupt;
  if (look.state == SchemaState::Newer) made.newer = look.version;
  if (look.state == SchemaState::Older) made.older = look.version;
  if (look.state != SchemaState::Ours) return made;
  if (made.database.read_only()) made.trouble = Trouble::ReadOnly;
  if (made.trouble == Trouble::None) made.trouble = set_up(made.database, journal);
  if (made.trouble == Trouble::None) made.trouble = migrate(made.database);
  if (made.trouble == Trouble::None) made.trouble = check_after_reboot(made.database);
  if (made.trouble == Trouble::Refused) made.trouble = Trouble::Corrupt;  // the tables are not the registry's
  made.database.wait_for_locks(kPatience);
  return made;
}

OpenedFile opened_from(Attempt made, const std::string& path, const std::string& file) {
  OpenedFile opened;
  opened.file = file;
  if (made.newer != 0) {
    opened.problem = not_kept(
        path,
        "a newer corral wrote it (schema version " + std::to_string(made.newer) + "; this one knows " +
            std::to_string(schema_version()) +
            "). It is left unchanged: use the newer corral, or choose another directory with --state-dir");
  } else if (made.trouble != Trouble::None) {
    opened.problem = not_kept(path, remedy_for(made.trouble));
    opened.may_pass = true;
  } else {
    opened.database = std::move(made.database);
  }
  return opened;
}

/// Why a file is put aside.
struct Unusable {
  Loss loss;
  const char* mark;    // in its new name
  std::string notice;  // follows "the registry PATH", and is followed by where it is now
  std::string remedy;  // for when it cannot be moved
};

/// Puts what is there aside and begins a new file.
OpenedFile begin_new_file(const std::string& path, const Unusable& old) {
  OpenedFile opened;
  const std::string place = put_aside(path, old.mark);
  std::string file;
  if (place.empty() || !prepare_file(path, file).empty()) {
    opened.problem = not_kept(path, old.remedy);
    opened.may_pass = true;
    return opened;
  }
  opened = opened_from(attempt(file, kPatience, journal_beside(file)), path, file);
  opened.loss = old.loss;
  opened.notice = "the registry " + path + " " + old.notice + ": it was renamed to " + place +
                  ", and a new one was created. What it knew about earlier daemons is lost; `corral doctor` "
                  "finds what they may have left";
  return opened;
}

/// Older files are never removed: what is in them may be the only trace of a process.
OpenedFile replace_older_file(const std::string& path, std::int64_t version) {
  return begin_new_file(
      path, {Loss::OlderFile, kOlder,
             "was written by a corral before 0.1.0 (version " + std::to_string(version) +
                 " of its tables; this one reads " + std::to_string(schema_version()) + ")",
             "a corral before 0.1.0 wrote it, and it cannot be renamed. Move it away; corral will retry"});
}

OpenedFile replace_damaged_file(const std::string& path) {
  forget_old_ones(path);
  return begin_new_file(path, {Loss::DamagedFile, kCorrupt, "was damaged, or was not a registry",
                               remedy_for(Trouble::Corrupt)});
}

/// Held while a file is examined and perhaps replaced, so that two daemons that start together do not move
/// each other's new file. After some time without the lock corral goes on: a process that holds it for long
/// must not keep the daemon from starting. Released when the descriptor is closed.
UniqueFd lock_directory(const std::string& file, int patience) {
  const std::string directory = file.substr(0, file.rfind('/') + 1);
  UniqueFd lock(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  constexpr int kPause = 5;
  for (int waited = 0; lock.valid() && waited < 4 * patience; waited += kPause) {
    if (flock(lock.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) break;
    poll(nullptr, 0, kPause);
  }
  return lock;
}

}  // namespace

std::string remedy_for(Trouble trouble) {
  switch (trouble) {
    case Trouble::None: return {};
    case Trouble::Busy:
      return "another process has locked it. corral will retry; if this persists, end that process (`fuser` "
             "names it)";
    case Trouble::Full: return "the disk is full. Make room; corral will retry";
    case Trouble::ReadOnly:
      return "it is read-only. Make the file and its directory writable, or choose another directory with "
             "--state-dir; corral will retry";
    case Trouble::Corrupt: return "it is damaged and cannot be renamed. Move it away; corral will retry";
    case Trouble::NoRoom:
      return "one of its files cannot be opened or created. Check that the disk is not full and the "
             "directory is writable for you; corral will retry";
    case Trouble::Refused: return "its tables are not from this corral. Move it away, and restart the daemon";
    case Trouble::Disk:
      return "the disk reports an error. Check the kernel log, or choose another directory with --state-dir; "
             "corral will retry";
  }
  return {};
}

FileId file_at(const std::string& path) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0 ? FileId{status.st_dev, status.st_ino} : FileId{};
}

Journal journal_for(std::uint64_t filesystem_type) {
  // From linux/magic.h and the sources of file systems that are not in it. FUSE may be anything, including
  // sshfs.
  constexpr std::array<std::uint64_t, 14> kReachedByOthers = {
      0x6969,      // NFS
      0x517b,      // SMB
      0xff534d42,  // CIFS
      0xfe534d42,  // SMB2
      0x65735546,  // FUSE
      0x01021997,  // 9p
      0x00c36400,  // Ceph
      0x5346414f,  // AFS
      0x6b414653,  // AFS, as reported by the kernel's own client
      0x73757245,  // Coda
      0x564c,      // NCP
      0x01161970,  // GFS2
      0x7461636f,  // OCFS2
      0x0bd00bd0,  // Lustre
  };
  const bool reached =
      std::find(kReachedByOthers.begin(), kReachedByOthers.end(), filesystem_type) != kReachedByOthers.end();
  return reached ? Journal::Rollback : Journal::WriteAhead;
}

OpenedFile open_database_file(const std::string& path, When when, std::optional<Journal> journal) {
  std::string file;
  const std::string objection = prepare_file(path, file);
  if (!objection.empty()) {
    OpenedFile refused;
    refused.problem =
        not_kept(path, objection + ", or choose another directory with --state-dir; corral will retry");
    refused.may_pass = true;
    return refused;
  }
  const int patience = when == When::Starting ? kPatienceAtStart : kPatience;
  const UniqueFd lock = lock_directory(file, patience);
  Attempt made = attempt(file, patience, journal.value_or(journal_beside(file)));
  if (made.trouble == Trouble::Corrupt) {
    made.database = {};  // before its file is moved
    return replace_damaged_file(path);
  }
  if (made.older != 0) {
    made.database = {};
    return replace_older_file(path, made.older);
  }
  return opened_from(std::move(made), path, file);
}

OpenedFile replace_database_file(const std::string& path) {
  const UniqueFd lock = lock_directory(path, kPatience);
  return replace_damaged_file(path);
}

void checkpoint_database_file(const std::string& file) {
  Trouble trouble = Trouble::None;
  Database database = Database::open(file, trouble);
  if (trouble != Trouble::None) return;
  database.wait_for_locks(kPatienceAtStart);
  // If this fails, the log grows until the next time, without other consequences.
  if (database.execute("PRAGMA synchronous=NORMAL; PRAGMA cache_size=-64") == Trouble::None) {
    database.checkpoint();
  }
}

}  // namespace corral::registry
