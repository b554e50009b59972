// Owns the tables of the state file, and what happens when it is damaged: it is set aside, never repaired by guessing.
#include "agent/store/store.hpp"

#include <sys/random.h>
#include <sys/stat.h>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <mutex>

#include <boost/json.hpp>

#include "agent/base/text.hpp"
#include "agent/model/event.hpp"
#include "agent/model/json.hpp"
#include "agent/store/sqlite.hpp"

namespace nvstripe::store {
namespace {

constexpr int kSchemaVersion = 1;

constexpr const char* kSchema = R"(
CREATE TABLE meta(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE records(kind TEXT NOT NULL, key TEXT NOT NULL, json TEXT NOT NULL, PRIMARY KEY(kind, key)) WITHOUT ROWID;
CREATE TABLE events(sequence INTEGER PRIMARY KEY, time TEXT NOT NULL, type TEXT NOT NULL, subject TEXT NOT NULL,
                    data TEXT NOT NULL);
)";

std::string now_rfc3339() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 40> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::string out = std::string(text.data()) + "." + std::to_string(1000 + ms).substr(1) + "Z";
  return out;
}

// Milliseconds of wall clock: later epochs are larger unless the clock was set back, and fit every JSON reader.
std::uint64_t new_epoch() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

Result<std::uint64_t> draw_generation() {
  std::uint64_t drawn = 0;
  while (drawn == 0) {
    if (getrandom(&drawn, sizeof drawn, 0) != sizeof drawn) return fail_errno("cannot draw random bytes");
  }
  return drawn;
}

class SqliteStore final : public Store {
 public:
  SqliteStore(Connection connection, const OpenOptions& options) : connection_(std::move(connection)), options_(options) {}

  Result<> begin();  // migrates, checks and loads
  Result<Records> records() override;
  Result<> write(const std::vector<Record>& records, const std::vector<EventDraft>& events) override;
  Result<std::vector<Event>> events(const EventQuery& query) override;
  Result<std::uint64_t> dropped_events() override;
  std::uint64_t epoch() const override { return epoch_; }

 private:
  Result<> migrate();
  Result<> load();
  Result<> prepare_statements();
  Result<> write_rows(const std::vector<Record>& records, const std::vector<EventDraft>& events, std::uint64_t& sequence);
  Result<> set_meta(std::string_view name, std::uint64_t value);

  std::mutex mutex_;
  Connection connection_;
  OpenOptions options_;
  Records cache_;  // equal to the table: one connection, and changed only after a commit
  std::uint64_t epoch_ = 0, last_sequence_ = 0, first_sequence_ = 1, dropped_ = 0;
  Statement put_record_, drop_record_, put_event_, drop_events_, put_meta_, oldest_, newest_;
};

Result<> SqliteStore::begin() {
  // EXCLUSIVE keeps a second daemon out for as long as this one lives.
  CHECKED(
      connection_.execute("PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
                          "PRAGMA wal_autocheckpoint=1000; BEGIN IMMEDIATE; COMMIT;"));
  TRY(const std::string check, connection_.one_text("PRAGMA quick_check(1)"));
  if (check != "ok") {
    return fail("state file is damaged: " + printable(check), "", std::error_code(EBADMSG, std::generic_category()));
  }
  CHECKED(migrate());
  CHECKED(prepare_statements());
  return load();
}

Result<> SqliteStore::migrate() {
  TRY(const std::string text, connection_.one_text("PRAGMA user_version"));
  const auto version = parse_number(text).value_or(0);
  if (version > kSchemaVersion) {
    return fail("state file has version " + text + ", and this program knows " + std::to_string(kSchemaVersion), "",
                std::error_code(EPROTO, std::generic_category()));
  }
  if (version == kSchemaVersion) return {};
  CHECKED(connection_.execute("BEGIN IMMEDIATE"));
  const std::string steps = std::string(kSchema) + "INSERT INTO meta VALUES('epoch'," + std::to_string(new_epoch()) +
                            "),('sequence',0),('dropped',0); PRAGMA user_version=" + std::to_string(kSchemaVersion) + ";";
  CHECKED(connection_.execute(steps));
  return connection_.execute("COMMIT");
}

Result<> SqliteStore::prepare_statements() {
  const auto make = [&](Statement& into, std::string_view sql) -> Result<> {
    TRY(into, connection_.prepare(sql));
    return {};
  };
  CHECKED(make(put_record_, "INSERT OR REPLACE INTO records VALUES(?,?,?)"));
  CHECKED(make(drop_record_, "DELETE FROM records WHERE kind=? AND key=?"));
  CHECKED(make(put_event_, "INSERT INTO events VALUES(?,?,?,?,?)"));
  CHECKED(make(drop_events_, "DELETE FROM events WHERE sequence<?"));
  CHECKED(make(put_meta_, "UPDATE meta SET value=? WHERE name=?"));
  CHECKED(make(oldest_, "SELECT sequence,time,type,subject,data FROM events WHERE sequence>? ORDER BY sequence LIMIT ?"));
  return make(newest_,
              "SELECT * FROM (SELECT sequence,time,type,subject,data FROM events WHERE sequence>? "
              "ORDER BY sequence DESC LIMIT ?) ORDER BY sequence");
}

Result<> SqliteStore::load() {
  TRY(Statement rows, connection_.prepare("SELECT kind,key,json FROM records ORDER BY kind,key"));
  int code = rows.step();
  for (; code == SQLITE_ROW; code = rows.step()) {
    auto record = json::parse_record(rows.text(0), rows.text(2));
    if (!record) {
      return fail("state file holds a " + rows.text(0) + " record '" + printable(rows.text(1)) +
                      "' that cannot be read: " + record.error().what,
                  "", std::error_code(EBADMSG, std::generic_category()));
    }
    cache_.put(*record);
  }
  if (code != SQLITE_DONE) return connection_.failure("read");
  const auto number = [&](const std::string& sql, std::uint64_t& into) -> Result<> {
    TRY(const std::string text, connection_.one_text(sql));
    into = parse_number(text).value_or(into);
    return {};
  };
  CHECKED(number("SELECT value FROM meta WHERE name='epoch'", epoch_));
  CHECKED(number("SELECT value FROM meta WHERE name='sequence'", last_sequence_));
  CHECKED(number("SELECT value FROM meta WHERE name='dropped'", dropped_));
  first_sequence_ = last_sequence_ + 1;
  return number("SELECT min(sequence) FROM events", first_sequence_);
}

Result<Records> SqliteStore::records() {
  const std::lock_guard lock(mutex_);
  Records out = cache_;
  TRY(out.fresh_generation, draw_generation());
  return out;
}

Result<> SqliteStore::set_meta(std::string_view name, std::uint64_t value) {
  put_meta_.bind(1, value);
  put_meta_.bind(2, name);
  return connection_.done(put_meta_);
}

Result<> SqliteStore::write_rows(const std::vector<Record>& records, const std::vector<EventDraft>& events,
                                 std::uint64_t& sequence) {
  for (const Record& record : records) {
    const bool gone = std::holds_alternative<Forget>(record);
    Statement& statement = gone ? drop_record_ : put_record_;
    statement.bind(1, record_kind(record));
    statement.bind(2, record_key(record));
    if (!gone) statement.bind(3, json::record_text(record));
    CHECKED(connection_.done(statement));
  }
  if (events.empty()) return {};
  const std::string time = now_rfc3339();
  for (const EventDraft& draft : events) {
    put_event_.bind(1, ++sequence);
    put_event_.bind(2, time);
    put_event_.bind(3, draft.type);
    put_event_.bind(4, draft.subject);
    put_event_.bind(5, draft.data.empty() ? std::string_view("{}") : std::string_view(draft.data));
    CHECKED(connection_.done(put_event_));
  }
  return set_meta("sequence", sequence);
}

Result<> SqliteStore::write(const std::vector<Record>& records, const std::vector<EventDraft>& events) {
  if (records.empty() && events.empty()) return {};
  const std::lock_guard lock(mutex_);
  CHECKED(connection_.execute("BEGIN IMMEDIATE"));
  std::uint64_t sequence = last_sequence_, first = first_sequence_, dropped = dropped_;
  const auto all = [&]() -> Result<> {
    CHECKED(write_rows(records, events, sequence));
    if (sequence + 1 - first > options_.max_events) {
      const std::uint64_t keep_from = sequence + 1 - options_.max_events;
      drop_events_.bind(1, keep_from);
      CHECKED(connection_.done(drop_events_));
      dropped += keep_from - first;
      first = keep_from;
      CHECKED(set_meta("dropped", dropped));
    }
    return connection_.execute("COMMIT");
  };
  if (auto written = all(); !written) {
    (void)connection_.execute("ROLLBACK");  // the first error is the one to tell
    return written;
  }
  last_sequence_ = sequence;
  first_sequence_ = first;
  dropped_ = dropped;
  for (const Record& record : records) cache_.put(record);
  return {};
}

Result<std::vector<Event>> SqliteStore::events(const EventQuery& query) {
  const std::lock_guard lock(mutex_);
  Statement& rows = query.newest ? newest_ : oldest_;
  rows.bind(1, query.after_sequence);
  rows.bind(2, std::uint64_t{query.limit});
  std::vector<Event> out;
  int code = rows.step();
  for (; code == SQLITE_ROW; code = rows.step()) {
    Event event;
    event.epoch = epoch_;
    event.sequence = rows.number(0);
    event.id = std::to_string(epoch_) + "-" + std::to_string(event.sequence);
    event.time = rows.text(1);
    event.type = rows.text(2);
    event.subject = rows.text(3);
    event.data = rows.text(4);
    out.push_back(std::move(event));
  }
  if (code != SQLITE_DONE) {
    auto failed = connection_.failure("read");
    rows.reset();
    return failed;
  }
  rows.reset();
  return out;
}

Result<std::uint64_t> SqliteStore::dropped_events() {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

// ---- opening ------------------------------------------------------------------------------------------------------------

Result<std::unique_ptr<SqliteStore>> open_once(const std::string& path, const OpenOptions& options) {
  TRY(Connection connection, Connection::open(path));
  auto store = std::make_unique<SqliteStore>(std::move(connection), options);
  CHECKED(store->begin());
  return store;
}

bool must_be_set_aside(const Error& error) {
  return Connection::is_damage(error) || error.cause == std::error_code(EBADMSG, std::generic_category()) ||
         error.cause == std::error_code(EPROTO, std::generic_category());
}

Result<std::string> set_aside(const std::string& path) {
  const std::string aside = path + ".set-aside-" + std::to_string(new_epoch());
  for (const char* suffix : {"", "-wal", "-shm"}) {
    std::error_code cause;
    std::filesystem::rename(path + suffix, aside + suffix, cause);
    if (cause && cause != std::errc::no_such_file_or_directory) {
      return fail("cannot set aside '" + path + suffix + "': " + cause.message(), "make its folder writable for root",
                  cause);
    }
  }
  return aside;
}

}  // namespace

Result<std::unique_ptr<Store>> Store::open(const std::string& path, const OpenOptions& options) {
  const bool in_memory = path == ":memory:";
  std::error_code cause;
  const bool existed = in_memory || std::filesystem::exists(path, cause);
  if (!in_memory) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), cause);  // a failure shows at opening
    const ::mode_t old = ::umask(0077);
    auto first = open_once(path, options);
    ::umask(old);
    if (first) {
      if (!existed)
        CHECKED((*first)->write({}, {{std::string(event::kStateReset), "agent", R"({"reason":"no state file"})"}}));
      return std::unique_ptr<Store>(std::move(*first));
    }
    if (!must_be_set_aside(first.error())) return tl::unexpected(first.error());
    TRY(const std::string aside, set_aside(path));
    TRY(auto fresh, open_once(path, options));
    const boost::json::object data{{"reason", to_utf8(first.error().what)}, {"set_aside", to_utf8(aside)}};
    CHECKED(fresh->write({}, {{std::string(event::kStateReset), "agent", boost::json::serialize(data)}}));
    return std::unique_ptr<Store>(std::move(fresh));
  }
  TRY(auto store, open_once(path, options));
  return std::unique_ptr<Store>(std::move(store));
}

}  // namespace nvstripe::store
