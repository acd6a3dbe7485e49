#include "registry/sqlite_registry.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "base/log.h"
#include "base/worker.h"
#include "registry/database_file.h"
#include "registry/schema.h"
#include "registry/tables.h"

namespace corral::registry {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBusyRetry{100};
constexpr int kMostPages = 4096;                // 16 MiB of write-ahead log
constexpr std::size_t kWriteAtOnce = 512;       // this many events are written without waiting for more
constexpr std::size_t kShareInMemory = 20;      // the bounds of a file are divided by this
constexpr std::size_t kMostUrgent = 8192;       // writes that must be repeated
constexpr std::size_t kManifestsInMemory = 64;  // instead of kMostManifests, each of at most …
constexpr std::size_t kManifestInMemory = 256U << 10U;

std::int64_t now_ms() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<milliseconds>(since).count();
}

class SqliteRegistry final : public Registry {
 public:
  SqliteRegistry(Loop& loop, std::string path, RegistryOptions options);
  ~SqliteRegistry() override;

  const std::string& degraded() const override { return degraded_; }
  void when_degraded(std::function<void()> task) override { *changed_ = std::move(task); }

  void begin(const DaemonRecord& daemon) override;
  void end(const std::string& daemon) override;
  std::vector<Unfinished> unfinished(const std::string& except) override;
  void forget(const std::string& daemon) override;
  void journal(const InstanceRecord& instance) override;
  void instance_ended(const std::string& id, std::int64_t ended_ms, const std::string& cause) override;
  void keep(const SessionRecord& session) override;
  void keep(const events::Event& event) override;
  void flush() override;
  std::vector<events::Event> events_after(std::uint64_t number, std::size_t most) override;
  std::uint64_t last_event() override;
  std::vector<SessionRecord> past_sessions(std::size_t most) override;
  std::optional<std::string> manifest(const std::string& digest) override;
  void keep_manifest(const std::string& digest, const std::string& server, const std::string& text) override;

 private:
  using Write = std::function<Trouble(Tables&)>;

  // Where the data is stored.
  void open();
  void use_file(OpenedFile opened);
  void use_memory();
  void open_again();
  bool moved_away() const { return in_file_ && file_at(file_) != id_; }
  void carry_over(std::vector<events::Event> events);
  void replace_damaged_file();
  void say(Loss loss, const std::string& notice) const;
  void look_at_log(int pages);
  void checkpoint(int pages);

  // Writing.
  void write_now(Write write);
  Trouble write_all();
  Trouble write_urgent();
  Trouble write_batch();
  void try_again_later(milliseconds after);
  void wrote(Trouble trouble);
  void read(Trouble trouble);
  void set_degraded(std::string why);
  void prune();

  Loop& loop_;
  const std::string path_;
  const RegistryOptions options_;

  Database database_;
  std::optional<Tables> tables_;  // of the current database
  bool in_file_ = false;
  std::string file_;  // its path without symbolic links
  FileId id_;
  bool replaced_ = false;  // a damaged file was replaced since the start: not twice
  std::string degraded_;
  std::shared_ptr<std::function<void()>> changed_ = std::make_shared<std::function<void()>>();

  std::optional<DaemonRecord> daemon_;             // this daemon
  std::map<std::string, InstanceRecord> running_;  // of this daemon: a new file must contain them too
  std::uint64_t before_ = 0;                       // the last event of earlier daemons

  std::deque<Write> urgent_;  // in order; empty unless a write failed
  std::deque<events::Event> events_;
  std::map<std::pair<std::string, std::uint64_t>, SessionRecord> sessions_;
  std::size_t dropped_ = 0;

  Timer batch_{loop_};
  Timer retry_{loop_};
  Timer prune_{loop_};
  Timer quiet_{loop_};
  int pages_ = 0;  // pages in the write-ahead log
  bool checkpointing_ = false;
  Worker disk_{loop_};
};

SqliteRegistry::SqliteRegistry(Loop& loop, std::string path, RegistryOptions options)
    : loop_(loop), path_(std::move(path)), options_(std::move(options)) {
  open();
  Trouble ignored = Trouble::None;
  before_ = tables_->last_event(ignored);
  prune_.start(options_.first_prune, [this] { prune(); });
}

SqliteRegistry::~SqliteRegistry() {
  *changed_ = nullptr;
  checkpointing_ = true;  // the next daemon copies the log
  write_all();
}

// ---- where the data is stored

void SqliteRegistry::open() {
  if (path_.empty()) return use_memory();
  OpenedFile opened = open_database_file(path_, When::Starting);
  say(opened.loss, opened.notice);
  if (opened.database.valid()) return use_file(std::move(opened));
  use_memory();
  if (opened.may_pass) try_again_later(options_.retry);
  set_degraded(std::move(opened.problem));
}

void SqliteRegistry::say(Loss loss, const std::string& notice) const {
  if (!notice.empty()) options_.notice ? options_.notice(loss, notice) : log_line(notice);
}

void SqliteRegistry::use_file(OpenedFile opened) {
  tables_.reset();
  database_ = std::move(opened.database);
  file_ = std::move(opened.file);
  id_ = file_at(file_);
  database_.when_written([this](int pages) { look_at_log(pages); });
  tables_.emplace(database_);
  in_file_ = true;
  if (!tables_->usable()) replace_damaged_file();
}

void SqliteRegistry::use_memory() {
  tables_.reset();
  quiet_.cancel();
  database_ = Database::unnamed();
  migrate(database_);
  tables_.emplace(database_);
  in_file_ = false;
}

/// The file could not be opened before, or was replaced. Writes what this daemon knows to it.
void SqliteRegistry::open_again() {
  OpenedFile opened = open_database_file(path_, When::Serving);
  say(opened.loss, opened.notice);
  if (!opened.database.valid()) {
    if (in_file_) use_memory();
    if (opened.may_pass) try_again_later(options_.retry);
    return set_degraded(std::move(opened.problem));
  }
  Trouble ignored = Trouble::None;
  std::vector<events::Event> events =
      tables_->events_after(before_, daemon_ ? daemon_->id : "", 0, options_.most_waiting, ignored);
  use_file(std::move(opened));
  carry_over(std::move(events));
}

void SqliteRegistry::carry_over(std::vector<events::Event> events) {
  urgent_.clear();
  if (daemon_) urgent_.push_back([daemon = *daemon_](Tables& tables) { return tables.write(daemon); });
  for (const auto& [id, instance] : running_) {
    urgent_.push_back([instance = instance](Tables& tables) { return tables.write(instance); });
  }
  events_.insert(events_.begin(), std::make_move_iterator(events.begin()),
                 std::make_move_iterator(events.end()));
  wrote(write_all());
}

/// Called while the file is open.
void SqliteRegistry::replace_damaged_file() {
  use_memory();
  if (std::exchange(replaced_, true)) {
    return set_degraded("the registry " + path_ +
                        " is damaged again, so nothing is stored for the next daemon: " +
                        "check the disk, move the file away, and restart the daemon");
  }
  OpenedFile opened = replace_database_file(path_);
  say(opened.loss, opened.notice);
  if (!opened.database.valid()) {
    try_again_later(options_.retry);
    return set_degraded(std::move(opened.problem));
  }
  use_file(std::move(opened));
  carry_over({});
}

/// While the thread waits for the disk, a writer of the same file may have to wait too, so the log is copied
/// when nothing is being written. In a storm of writes the log is copied here, without waiting for the disk;
/// see decision 0027.
void SqliteRegistry::look_at_log(int pages) {
  pages_ = pages;
  if (checkpointing_ || pages < options_.checkpoint_pages) return;
  if (pages >= kMostPages) {
    database_.checkpoint();
  } else if (!quiet_.running()) {
    quiet_.start(options_.quiet, [this, pages] { checkpoint(pages); });
  }
}

void SqliteRegistry::checkpoint(int pages) {
  if (!in_file_) return;
  if (pages != pages_) return look_at_log(pages_);
  checkpointing_ = true;
  disk_.run([file = file_] { checkpoint_database_file(file); }, [this] { checkpointing_ = false; });
}

// ---- writing

void SqliteRegistry::write_now(Write write) {
  if (urgent_.empty() && !retry_.running()) {
    const Trouble trouble = write(*tables_);
    if (trouble == Trouble::None) return;
    urgent_.push_back(std::move(write));
    return wrote(trouble);
  }
  // Writes to memory do not fail, and the file gets all of it when it can be opened.
  if (!in_file_ && urgent_.empty()) {
    write(*tables_);
    return;
  }
  urgent_.push_back(std::move(write));
  if (urgent_.size() > kMostUrgent) {
    urgent_.pop_front();
    ++dropped_;
  }
}

Trouble SqliteRegistry::write_all() {
  const Trouble trouble = write_urgent();
  return trouble == Trouble::None ? write_batch() : trouble;
}

Trouble SqliteRegistry::write_urgent() {
  while (!urgent_.empty()) {
    const Trouble trouble = urgent_.front()(*tables_);
    if (trouble != Trouble::None) return trouble;
    urgent_.pop_front();
  }
  return Trouble::None;
}

Trouble SqliteRegistry::write_batch() {
  if (events_.empty() && sessions_.empty()) return Trouble::None;
  Transaction transaction(database_);
  Trouble trouble = transaction.trouble();
  const std::string daemon = daemon_ ? daemon_->id : std::string();
  for (const events::Event& event : events_) {
    if (trouble == Trouble::None) trouble = tables_->write(event, daemon);
  }
  for (const auto& [key, session] : sessions_) {
    if (trouble == Trouble::None) trouble = tables_->write(session);
  }
  if (trouble == Trouble::None) trouble = transaction.commit();
  if (trouble != Trouble::None) return trouble;
  events_.clear();
  sessions_.clear();
  return trouble;
}

void SqliteRegistry::try_again_later(milliseconds after) {
  retry_.start(after, [this] {
    if ((!in_file_ && !path_.empty()) || moved_away()) return open_again();
    const Trouble trouble = tables_->probe();
    wrote(trouble == Trouble::None ? write_all() : trouble);
  });
}

/// Reacts to the result of a write.
void SqliteRegistry::wrote(Trouble trouble) {
  if (trouble == Trouble::Corrupt && in_file_) return replace_damaged_file();
  if (trouble != Trouble::None) {
    try_again_later(trouble == Trouble::Busy ? kBusyRetry : options_.retry);
    return set_degraded("the registry " + path_ + " cannot be written: " + remedy_for(trouble));
  }
  if (!in_file_ && !path_.empty()) return;  // written, but only to memory
  retry_.cancel();
  if (dropped_ != 0) {
    const std::string notice = "the registry " + path_ + " can be written again; " +
                               std::to_string(dropped_) +
                               " records from the time in between did not fit into the queue and are lost";
    say(Loss::Records, notice);
    dropped_ = 0;
    return carry_over({});  // running instances must be recorded, whatever else is lost
  }
  set_degraded({});
}

/// Reacts to the result of a read: only damage matters, everything else is noticed at the next write.
void SqliteRegistry::read(Trouble trouble) {
  if (trouble == Trouble::Corrupt && in_file_) replace_damaged_file();
}

/// Reported in a separate turn of the loop, because the callback may write to the registry.
void SqliteRegistry::set_degraded(std::string why) {
  if (why == degraded_) return;
  degraded_ = std::move(why);
  loop_.post([changed = std::weak_ptr(changed_)] {
    const auto still = changed.lock();
    if (still && *still) (*still)();
  });
}

/// A few rows at a time, because clients may be waiting for answers.
void SqliteRegistry::prune() {
  Trouble trouble = Trouble::None;
  int removed = 0;
  // In memory also while the file is unavailable, because nothing else bounds the tables there.
  if (!in_file_ || !retry_.running()) {
    const std::size_t share = in_file_ ? 1 : kShareInMemory;
    const Tables::Bounds bounds{now_ms() - options_.history.count(), options_.most_events / share,
                                options_.most_sessions / share};
    removed = tables_->prune_some(bounds, trouble);
  }
  prune_.start(removed > 0 ? options_.next_piece : options_.prune, [this] { prune(); });
  if (trouble == Trouble::Corrupt) read(trouble);
}

// ---- the interface

void SqliteRegistry::begin(const DaemonRecord& daemon) {
  daemon_ = daemon;
  write_now([daemon](Tables& tables) { return tables.write(daemon); });
}

void SqliteRegistry::end(const std::string& daemon) {
  flush();
  if (daemon_ && daemon_->id == daemon) {
    daemon_.reset();
    running_.clear();
  }
  write_now([daemon, now = now_ms()](Tables& tables) { return tables.end_daemon(daemon, now, "shutdown"); });
}

std::vector<Unfinished> SqliteRegistry::unfinished(const std::string& except) {
  Trouble trouble = Trouble::None;
  std::vector<Unfinished> found = tables_->unfinished(except, trouble);
  read(trouble);
  return found;
}

void SqliteRegistry::forget(const std::string& daemon) {
  write_now([daemon, now = now_ms()](Tables& tables) { return tables.end_daemon(daemon, now, "lost"); });
}

void SqliteRegistry::journal(const InstanceRecord& instance) {
  if (instance.ended_ms == 0) {
    running_.insert_or_assign(instance.id, instance);
  } else {
    running_.erase(instance.id);
  }
  write_now([instance](Tables& tables) { return tables.write(instance); });
}

void SqliteRegistry::instance_ended(const std::string& id, std::int64_t ended_ms, const std::string& cause) {
  running_.erase(id);
  write_now([id, ended_ms, cause](Tables& tables) { return tables.end_instance(id, ended_ms, cause); });
}

void SqliteRegistry::keep(const SessionRecord& session) {
  sessions_.insert_or_assign({session.daemon, session.id}, session);
  if (sessions_.size() > options_.most_waiting) {
    sessions_.erase(sessions_.begin());
    ++dropped_;
  }
  if (!batch_.running() && !retry_.running()) batch_.start(options_.batch, [this] { flush(); });
}

void SqliteRegistry::keep(const events::Event& event) {
  events_.push_back(event);
  if (events_.size() > options_.most_waiting) {
    events_.pop_front();
    ++dropped_;
  }
  // A failure is what is looked for after a crash, and often the last thing before one.
  const bool now = events_.size() >= kWriteAtOnce || events::is_failure(event.kind);
  if (now && !retry_.running()) return flush();
  if (!batch_.running() && !retry_.running()) batch_.start(options_.batch, [this] { flush(); });
}

void SqliteRegistry::flush() {
  batch_.cancel();
  if (moved_away()) return open_again();
  if (!urgent_.empty() || !events_.empty() || !sessions_.empty()) wrote(write_all());
}

std::vector<events::Event> SqliteRegistry::events_after(std::uint64_t number, std::size_t most) {
  Trouble trouble = Trouble::None;
  std::vector<events::Event> found =
      tables_->events_after(number, daemon_ ? daemon_->id : std::string(), before_, most, trouble);
  for (const events::Event& event : events_) {  // not written yet
    if (event.number > number && found.size() < most) found.push_back(event);
  }
  read(trouble);
  return found;
}

std::uint64_t SqliteRegistry::last_event() {
  Trouble trouble = Trouble::None;
  std::uint64_t last = tables_->last_event(trouble);
  if (!events_.empty()) last = std::max(last, events_.back().number);
  read(trouble);
  return last;
}

std::vector<SessionRecord> SqliteRegistry::past_sessions(std::size_t most) {
  if (!retry_.running()) flush();
  Trouble trouble = Trouble::None;
  std::vector<SessionRecord> found = tables_->past_sessions(most, trouble);
  read(trouble);
  return found;
}

std::optional<std::string> SqliteRegistry::manifest(const std::string& digest) {
  Trouble trouble = Trouble::None;
  std::optional<std::string> found = tables_->manifest(digest, trouble);
  read(trouble);
  return found;
}

void SqliteRegistry::keep_manifest(const std::string& digest, const std::string& server,
                                   const std::string& text) {
  if (text.size() > (in_file_ ? kLargestManifest : kManifestInMemory)) return;
  const std::size_t most = in_file_ ? kMostManifests : kManifestsInMemory;
  // Not repeated after a failure: manifests may be large, and they are learned again.
  if (in_file_ && retry_.running()) return;
  const Trouble trouble = tables_->write_manifest(digest, server, text, most);
  if (trouble != Trouble::None) wrote(trouble);
}

}  // namespace

std::unique_ptr<Registry> open_registry(Loop& loop, const std::string& path, RegistryOptions options) {
  // Absolute, because the daemon changes its working directory later.
  std::error_code error;
  const std::string whole = path.empty() ? path : std::filesystem::absolute(path, error).string();
  return std::make_unique<SqliteRegistry>(loop, error ? path : whole, std::move(options));
}

}  // namespace corral::registry
