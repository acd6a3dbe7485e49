// RAII wrappers for SQLite: a database, a prepared statement, the rows of one execution, a transaction. Only
// sqlite.cc includes sqlite3.h. A database and everything that belongs to it is used by one thread at a time.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace corral::registry {

/// The version of the library in use.
std::string sqlite_version();

/// The causes of failure that need different reactions.
enum class Trouble : std::uint8_t {
  None,
  Busy,      // another connection is writing; temporary
  Full,      // the disk, or a quota
  ReadOnly,  // the file, its directory, or the file system
  Corrupt,   // not a database, or a damaged one
  NoRoom,    // it cannot be opened, or needs a file that cannot be created
  Refused,   // the statement does not match the tables
  Disk,      // any other I/O error
};

/// One execution of a statement. It must be destroyed before the statement runs again, and must not outlive
/// it.
class Rows {
 public:
  explicit Rows(sqlite3_stmt* statement) : statement_(statement) {}
  ~Rows();
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  /// Moves to the next row. After `false`, `trouble` says why.
  bool next();
  Trouble trouble() const { return trouble_; }
  /// Runs the statement to its end.
  Trouble finish();

  std::int64_t number(int column) const;
  /// The stored bytes, which may include zeros.
  std::string text(int column) const;

 private:
  sqlite3_stmt* statement_;
  Trouble trouble_ = Trouble::None;
};

/// Must not outlive its database.
class Statement {
 public:
  Statement() = default;
  /// Invalid if the SQL does not match the tables.
  Statement(sqlite3* database, const char* sql);

  bool valid() const { return statement_ != nullptr; }

  /// Binds the values to the question marks, in order, and starts an execution.
  template <class... Values>
  Rows run(const Values&... values) {
    int at = 0;
    (bind(++at, values), ...);
    return Rows(statement_.get());
  }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };

  void bind(int at, std::string_view text);
  void bind_number(int at, std::int64_t number);
  void bind(int at, const std::string& text) { bind(at, std::string_view(text)); }
  template <std::integral Number>
  void bind(int at, Number number) {
    bind_number(at, static_cast<std::int64_t>(number));
  }

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

/// Owns a connection. Move-only; statements stay valid when it is moved.
class Database {
 public:
  Database() = default;
  ~Database();
  Database(Database&& other) noexcept;
  Database& operator=(Database&& other) noexcept;

  /// `path` must not contain a symbolic link. A missing file is not created. Succeeded if `trouble` is None.
  static Database open(const std::string& path, Trouble& trouble);
  /// Like `open`, for a program that only reads: neither creates the file nor changes it, and never keeps a
  /// writer waiting for longer than one statement takes.
  static Database open_to_read(const std::string& path, Trouble& trouble);
  /// An in-memory database.
  static Database unnamed();

  bool valid() const { return database_ != nullptr; }
  bool read_only() const;
  /// How long a statement may wait for the lock of another connection.
  void wait_for_locks(int milliseconds);
  /// `task` is called after each commit with the number of pages in the write-ahead log. Replaces SQLite's
  /// automatic checkpoints.
  void when_written(std::function<void(int pages)> task);

  Trouble execute(const char* sql);
  Statement prepare(const char* sql) { return {database_, sql}; }
  /// The first value of the first row; 0 or empty if there is none.
  std::int64_t number(const char* sql, Trouble& trouble);
  std::string text(const char* sql, Trouble& trouble);
  /// The number of rows that the last statement changed.
  int changed() const;

  /// Copies the write-ahead log into the database, as far as no reader needs it, and waits for the disk.
  Trouble checkpoint();

 private:
  sqlite3* database_ = nullptr;
  std::unique_ptr<std::function<void(int)>> written_;
};

/// Rolls back in the destructor unless it was committed.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  /// Why it could not begin; None if it did.
  Trouble trouble() const { return trouble_; }
  Trouble commit();

 private:
  Database& database_;
  Trouble trouble_;
  bool open_;
};

}  // namespace corral::registry
