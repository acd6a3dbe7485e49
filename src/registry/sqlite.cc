#include "registry/sqlite.h"

#include <sqlite3.h>

#include <mutex>
#include <utility>

namespace corral::registry {
namespace {

constexpr int kLargestValue = 16 << 20;
constexpr int kLongestStatement = 64 << 10;

Trouble trouble_of(int code) {
  switch (code & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE: return Trouble::None;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL: return Trouble::Busy;
    case SQLITE_FULL: return Trouble::Full;
    case SQLITE_READONLY:
    case SQLITE_PERM: return Trouble::ReadOnly;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT: return Trouble::Corrupt;
    case SQLITE_CANTOPEN: return Trouble::NoRoom;
    case SQLITE_IOERR:
      // A full disk is reported like this when the index of the write-ahead log is created.
      if (code == SQLITE_IOERR_SHMSIZE || code == SQLITE_IOERR_SHMOPEN) return Trouble::NoRoom;
      return Trouble::Disk;
    case SQLITE_NOMEM: return Trouble::Disk;
    default: return Trouble::Refused;
  }
}

/// Done once, before any other call: the library's memory statistics cost a lock for each allocation.
void configure_library() {
  static std::once_flag once;
  std::call_once(once, [] { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); });
}

/// The path as a URI, because some of SQLite's options exist only there.
std::string uri_of(const std::string& path, const char* options) {
  constexpr const char* kDigits = "0123456789ABCDEF";
  std::string uri = "file:";
  for (const char one : path) {
    const auto byte = static_cast<unsigned char>(one);
    const bool plain = byte > ' ' && byte < 0x7f && one != '%' && one != '?' && one != '#';
    if (plain) {
      uri += one;
    } else {
      uri.append({'%', kDigits[byte >> 4U], kDigits[byte & 15U]});
    }
  }
  return uri + options;
}

/// The content of the file is not trusted: no foreign triggers or views run when we write or read.
void distrust(sqlite3* database) {
  sqlite3_extended_result_codes(database, 1);
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  // A connection that only reads leaves the files unchanged, and closing does not wait for the disk.
  sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, kLargestValue);
  sqlite3_limit(database, SQLITE_LIMIT_SQL_LENGTH, kLongestStatement);
  sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
}

}  // namespace

std::string sqlite_version() { return sqlite3_libversion(); }

// ---- statements

Rows::~Rows() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);  // the values may be megabytes
}

bool Rows::next() {
  if (statement_ == nullptr) {
    trouble_ = Trouble::Refused;
    return false;
  }
  const int code = sqlite3_step(statement_);
  trouble_ = trouble_of(code);
  return code == SQLITE_ROW;
}

Trouble Rows::finish() {
  while (next()) {
  }
  return trouble_;
}

std::int64_t Rows::number(int column) const { return sqlite3_column_int64(statement_, column); }

std::string Rows::text(int column) const {
  const void* const bytes = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return bytes == nullptr ? std::string()
                          : std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

Statement::Statement(sqlite3* database, const char* sql) {
  sqlite3_stmt* made = nullptr;
  if (database != nullptr) {
    sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &made, nullptr);
  }
  statement_.reset(made);
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

void Statement::bind(int at, std::string_view text) {
  if (!valid()) return;
  // A null pointer would store NULL instead of an empty text.
  const char* const bytes = text.data() == nullptr ? "" : text.data();
  // NOLINTNEXTLINE(performance-no-int-to-ptr): SQLite's constant for "copy it"
  sqlite3_bind_text64(statement_.get(), at, bytes, text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

void Statement::bind_number(int at, std::int64_t number) {
  if (valid()) sqlite3_bind_int64(statement_.get(), at, number);
}

// ---- databases

Database::~Database() { sqlite3_close_v2(database_); }

Database::Database(Database&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)), written_(std::move(other.written_)) {}

Database& Database::operator=(Database&& other) noexcept {
  if (this == &other) return *this;
  sqlite3_close_v2(database_);
  database_ = std::exchange(other.database_, nullptr);
  written_ = std::move(other.written_);
  return *this;
}

Database Database::open(const std::string& path, Trouble& trouble) {
  configure_library();
  Database made;
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW;
  const int code = sqlite3_open_v2(path.c_str(), &made.database_, kFlags, nullptr);
  trouble = trouble_of(code);
  if (trouble != Trouble::None) return {};
  distrust(made.database_);
  return made;
}

Database Database::open_to_read(const std::string& path, Trouble& trouble) {
  configure_library();
  constexpr int kFlags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_URI;
  // First without writing to the memory that connections share. If a daemon was killed, that memory is still
  // a file; only after a crash of the machine it may be missing, and then SQLite has to make it.
  for (const char* const options : {"?readonly_shm=1", ""}) {
    Database made;
    trouble = trouble_of(sqlite3_open_v2(uri_of(path, options).c_str(), &made.database_, kFlags, nullptr));
    if (trouble != Trouble::None) return {};
    distrust(made.database_);
    made.number("SELECT count(*) FROM sqlite_schema", trouble);  // opens the log
    if (trouble == Trouble::None) return made;
    if (trouble == Trouble::Corrupt) return {};
  }
  return {};
}

Database Database::unnamed() {
  configure_library();
  Database made;
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  if (sqlite3_open_v2(":memory:", &made.database_, kFlags, nullptr) != SQLITE_OK) return {};
  distrust(made.database_);
  return made;
}

bool Database::read_only() const { return sqlite3_db_readonly(database_, "main") == 1; }

void Database::wait_for_locks(int milliseconds) { sqlite3_busy_timeout(database_, milliseconds); }

void Database::when_written(std::function<void(int pages)> task) {
  written_ = std::make_unique<std::function<void(int)>>(std::move(task));
  // SQLite uses the same hook for its automatic checkpoints, so they are off from now on.
  const auto hook = [](void* given, sqlite3*, const char*, int pages) {
    (*static_cast<std::function<void(int)>*>(given))(pages);
    return SQLITE_OK;
  };
  sqlite3_wal_hook(database_, hook, written_.get());
}

Trouble Database::execute(const char* sql) {
  return trouble_of(sqlite3_exec(database_, sql, nullptr, nullptr, nullptr));
}

std::int64_t Database::number(const char* sql, Trouble& trouble) {
  sqlite3_stmt* made = nullptr;
  trouble = trouble_of(sqlite3_prepare_v2(database_, sql, -1, &made, nullptr));
  if (trouble != Trouble::None) return 0;
  std::int64_t value = 0;
  {
    Rows rows(made);
    if (rows.next()) value = rows.number(0);
    trouble = rows.trouble();
  }
  sqlite3_finalize(made);
  return value;
}

std::string Database::text(const char* sql, Trouble& trouble) {
  sqlite3_stmt* made = nullptr;
  trouble = trouble_of(sqlite3_prepare_v2(database_, sql, -1, &made, nullptr));
  if (trouble != Trouble::None) return {};
  std::string value;
  {
    Rows rows(made);
    if (rows.next()) value = rows.text(0);
    trouble = rows.trouble();
  }
  sqlite3_finalize(made);
  return value;
}

int Database::changed() const { return sqlite3_changes(database_); }

Trouble Database::checkpoint() {
  // A connection that has not read anything yet does not know that there is a log.
  const Trouble trouble = execute("SELECT count(*) FROM sqlite_schema");
  if (trouble != Trouble::None) return trouble;
  return trouble_of(
      sqlite3_wal_checkpoint_v2(database_, nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr));
}

// ---- transactions

Transaction::Transaction(Database& database)
    : database_(database), trouble_(database.execute("BEGIN IMMEDIATE")), open_(trouble_ == Trouble::None) {}

Transaction::~Transaction() {
  if (open_) database_.execute("ROLLBACK");
}

Trouble Transaction::commit() {
  const Trouble trouble = database_.execute("COMMIT");
  if (trouble == Trouble::None) open_ = false;
  return trouble;
}

}  // namespace corral::registry
