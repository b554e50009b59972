// Owns records and events of the state file: one transaction a write, and memory that is equal to the tables.
#include "agent/store/sqlite_store.hpp"

#include <sys/random.h>
#include <sys/statvfs.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <filesystem>

#include <boost/json.hpp>

#include "agent/base/text.hpp"
#include "agent/base/uuid.hpp"
#include "agent/model/event.hpp"
#include "agent/model/json.hpp"

namespace nvstripe::store {
namespace {

constexpr int kSchemaVersion = 2;

// One step a version; a file of an older version runs the steps that it lacks.
constexpr const char* kRecordsAndEvents = R"(
CREATE TABLE meta(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE records(kind TEXT NOT NULL, key TEXT NOT NULL, json TEXT NOT NULL, PRIMARY KEY(kind, key)) WITHOUT ROWID;
CREATE TABLE events(sequence INTEGER PRIMARY KEY, time TEXT NOT NULL, type TEXT NOT NULL, subject TEXT NOT NULL,
                    data TEXT NOT NULL);
)";
constexpr const char* kOutbox = R"(
ALTER TABLE events ADD COLUMN stream TEXT NOT NULL DEFAULT 'state';
CREATE INDEX events_by_stream ON events(stream, sequence);
CREATE TABLE cursors(sink TEXT NOT NULL, stream TEXT NOT NULL, sequence INTEGER NOT NULL,
                     PRIMARY KEY(sink, stream)) WITHOUT ROWID;
CREATE TABLE dead(sequence INTEGER PRIMARY KEY, stream TEXT NOT NULL, time TEXT NOT NULL, type TEXT NOT NULL,
                  subject TEXT NOT NULL, data TEXT NOT NULL, reason TEXT NOT NULL, refused TEXT NOT NULL,
                  again INTEGER NOT NULL);
)";

std::string source_of(std::uint64_t high, std::uint64_t low) {
  Uuid uuid;
  for (std::size_t i = 0; i < 8; ++i) {
    uuid.bytes[i] = static_cast<std::uint8_t>(high >> (56 - 8 * i));
    uuid.bytes[8 + i] = static_cast<std::uint8_t>(low >> (56 - 8 * i));
  }
  return "urn:uuid:" + to_text(uuid);
}

Result<std::uint64_t> draw_generation() {
  std::uint64_t drawn = 0;
  while (drawn == 0) {
    if (getrandom(&drawn, sizeof drawn, 0) != sizeof drawn) return fail_errno("cannot draw random bytes");
  }
  return drawn;
}

}  // namespace

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
  if (version < 1) {
    CHECKED(connection_.execute(std::string(kRecordsAndEvents) + "INSERT INTO meta VALUES('epoch'," +
                                std::to_string(new_epoch()) + "),('sequence',0);"));
  }
  TRY(const std::uint64_t high, draw_generation());
  TRY(const std::uint64_t low, draw_generation());
  constexpr std::uint64_t kPositive = INT64_MAX;  // SQLite's integers have a sign
  CHECKED(connection_.execute(std::string(kOutbox) + "INSERT INTO meta VALUES('source_high'," +
                              std::to_string(high & kPositive) + "),('source_low'," + std::to_string(low & kPositive) +
                              ");"));
  CHECKED(connection_.execute("PRAGMA user_version=" + std::to_string(kSchemaVersion)));
  return connection_.execute("COMMIT");
}

Result<> SqliteStore::prepare_statements() {
  const auto make = [&](Statement& into, std::string_view sql) -> Result<> {
    TRY(into, connection_.prepare(sql));
    return {};
  };
  CHECKED(make(put_record_, "INSERT OR REPLACE INTO records VALUES(?,?,?)"));
  CHECKED(make(drop_record_, "DELETE FROM records WHERE kind=? AND key=?"));
  CHECKED(make(put_event_, "INSERT INTO events VALUES(?,?,?,?,?,?)"));
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
  std::uint64_t high = 0, low = 0;
  CHECKED(number("SELECT value FROM meta WHERE name='source_high'", high));
  CHECKED(number("SELECT value FROM meta WHERE name='source_low'", low));
  source_ = source_of(high, low);
  return outbox_.load(connection_);
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

Result<> SqliteStore::put_event(const EventDraft& draft, std::string_view time, std::uint64_t& sequence,
                                OutboxCounts& counts, std::string_view stream) {
  const std::string_view data = draft.data.empty() ? std::string_view("{}") : std::string_view(draft.data);
  if (stream.empty()) stream = stream_of(draft.type);
  put_event_.bind(1, ++sequence);
  put_event_.bind(2, time);
  put_event_.bind(3, draft.type);
  put_event_.bind(4, draft.subject);
  put_event_.bind(5, data);
  put_event_.bind(6, stream);
  CHECKED(connection_.done(put_event_));
  outbox_.add(counts, stream, row_bytes(draft.type, draft.subject, data));
  return {};
}

std::uint64_t SqliteStore::room() const {
  if (options_.free_bytes) return options_.free_bytes();
  struct statvfs space {};
  if (path_ == ":memory:" || ::statvfs(path_.c_str(), &space) != 0) return kMinFreeBytes;
  return std::uint64_t{space.f_bavail} * space.f_frsize;
}

Result<> SqliteStore::make_room(std::string_view time, std::uint64_t& sequence, OutboxCounts& counts) {
  std::uint64_t max_rows = options_.max_events;
  if (room() >= kMinFreeBytes) {
    tight_rows_ = 0;
  } else {
    if (tight_rows_ == 0) tight_rows_ = std::max(kMinEvents, outbox_.counts().rows);
    max_rows = std::min(max_rows, tight_rows_);
  }
  TRY(const std::vector<Dropped> dropped, outbox_.trim(counts, max_rows, options_.max_bytes));
  if (!counts.wanted) return {};  // nobody ever asked for them: there is nobody to tell
  // In the stream of the gap: told in another one it could itself be dropped, and nobody would tell it again.
  for (const Dropped& gap : dropped) {
    const boost::json::object data{
        {"stream", boost::json::string(gap.stream)}, {"first", gap.first}, {"last", gap.last}, {"dropped_total", gap.total}};
    CHECKED(put_event({std::string(event::kEventsDropped), "outbox/" + std::string(gap.stream), json::text(data)}, time,
                      sequence, counts, gap.stream));
  }
  return {};
}

Result<> SqliteStore::write_rows(const std::vector<Record>& records, const std::vector<EventDraft>& events,
                                 std::uint64_t& sequence, OutboxCounts& counts) {
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
  for (const EventDraft& draft : events) CHECKED(put_event(draft, time, sequence, counts));
  CHECKED(make_room(time, sequence, counts));
  return set_meta("sequence", sequence);
}

Result<> SqliteStore::transact(const std::function<Result<>(std::uint64_t&, OutboxCounts&)>& change) {
  CHECKED(connection_.execute("BEGIN IMMEDIATE"));
  std::uint64_t sequence = last_sequence_;
  OutboxCounts counts = outbox_.counts();
  auto written = change(sequence, counts);
  if (written) written = connection_.execute("COMMIT");
  if (!written) {
    (void)connection_.execute("ROLLBACK");  // the first error is the one to tell
    return written;
  }
  last_sequence_ = sequence;
  outbox_.commit(counts);
  return {};
}

Result<> SqliteStore::write(const std::vector<Record>& records, const std::vector<EventDraft>& events) {
  if (records.empty() && events.empty()) return {};
  const std::lock_guard lock(mutex_);
  CHECKED(transact(
      [&](std::uint64_t& sequence, OutboxCounts& counts) { return write_rows(records, events, sequence, counts); }));
  for (const Record& record : records) cache_.put(record);
  return {};
}

Event SqliteStore::whole(Event event) const {
  event.epoch = epoch_;
  event.id = std::to_string(epoch_) + "-" + std::to_string(event.sequence);
  return event;
}

Result<std::vector<Event>> SqliteStore::events(const EventQuery& query) {
  const std::lock_guard lock(mutex_);
  Statement& rows = query.newest ? newest_ : oldest_;
  rows.bind(1, query.after_sequence);
  rows.bind(2, std::uint64_t{query.limit});
  std::vector<Event> out;
  int code = rows.step();
  for (; code == SQLITE_ROW; code = rows.step()) {
    out.push_back(whole({0, rows.number(0), {}, rows.text(1), rows.text(2), rows.text(3), rows.text(4)}));
  }
  if (code != SQLITE_DONE) {
    auto failed = connection_.failure("read");
    rows.reset();
    return failed;
  }
  rows.reset();
  return out;
}

}  // namespace nvstripe::store
