// Owns the SQL of the outbox. Sequences are counted over all streams, so within one stream they have holes that are no gaps.
#include "agent/store/outbox.hpp"

#include <algorithm>

namespace nvstripe::store {
namespace {

constexpr std::uint64_t kRowOverhead = 96;  // time, sequence, two index entries
constexpr std::uint64_t kMaxDead = 10'000;  // a receiver that refuses everything must not fill the disk either

Result<> stepped(Connection& connection, Statement& statement, int code) {
  if (code == SQLITE_DONE) {
    statement.reset();
    return {};
  }
  auto failed = connection.failure("read");
  statement.reset();
  return failed;
}

std::uint64_t less(std::uint64_t from, std::uint64_t by) { return from > by ? from - by : 0; }

}  // namespace

std::uint64_t row_bytes(std::string_view type, std::string_view subject, std::string_view data) {
  return type.size() + subject.size() + data.size() + kRowOverhead;
}

Result<> Outbox::load(Connection& connection) {
  connection_ = &connection;
  const auto make = [&](Statement& into, std::string_view sql) -> Result<> {
    TRY(into, connection.prepare(sql));
    return {};
  };
  CHECKED(
      make(pending_,
           "SELECT sequence,time,type,subject,data FROM events WHERE stream=? AND sequence>? ORDER BY sequence LIMIT ?"));
  CHECKED(
      make(again_, "SELECT sequence,time,type,subject,data FROM dead WHERE stream=? AND again=1 ORDER BY sequence LIMIT ?"));
  CHECKED(make(range_,
               "SELECT sequence,length(type)+length(subject)+length(CAST(data AS BLOB)) FROM events WHERE stream=? AND "
               "sequence>? AND sequence<=? ORDER BY sequence"));
  CHECKED(make(delete_range_, "DELETE FROM events WHERE stream=? AND sequence>? AND sequence<=?"));
  CHECKED(make(set_cursor_, "INSERT OR REPLACE INTO cursors VALUES('events',?,?)"));
  CHECKED(make(want_, "INSERT OR REPLACE INTO meta VALUES('wanted',1)"));
  CHECKED(
      make(bury_,
           "INSERT OR REPLACE INTO dead SELECT sequence,stream,time,type,subject,data,?,?,0 FROM events WHERE sequence=?"));
  CHECKED(make(rebury_, "UPDATE dead SET again=0,reason=?,refused=? WHERE sequence=?"));
  CHECKED(make(forget_dead_, "DELETE FROM dead WHERE sequence=?"));
  CHECKED(make(dead_, "SELECT sequence,time,type,subject,data,stream,reason,refused,again FROM dead ORDER BY sequence"));
  CHECKED(make(replay_, "UPDATE dead SET again=1 WHERE sequence=?"));
  CHECKED(make(replay_all_, "UPDATE dead SET again=1"));
  CHECKED(make(oldest_dead_, "SELECT sequence FROM dead WHERE stream=? AND again=0 ORDER BY sequence LIMIT 1"));
  return load_counts();
}

Result<> Outbox::load_counts() {
  counts_ = {};
  const auto number = [&](const std::string& sql, std::uint64_t& into) -> Result<> {
    TRY(Statement statement, connection_->prepare(sql));
    const int code = statement.step();
    if (code == SQLITE_ROW) into = statement.number(0);
    if (code != SQLITE_ROW && code != SQLITE_DONE) return connection_->failure("read");
    return {};
  };
  const std::string sum = "SELECT coalesce(sum(length(type)+length(subject)+length(CAST(data AS BLOB))+" +
                          std::to_string(kRowOverhead) + "),0) FROM events";
  CHECKED(number("SELECT count(*) FROM events", counts_.rows));
  CHECKED(number(sum, counts_.bytes));
  std::uint64_t wanted = 0;
  CHECKED(number("SELECT value FROM meta WHERE name='wanted'", wanted));
  counts_.wanted = wanted != 0;
  for (std::size_t i = 0; i < kStreams.size(); ++i) {
    StreamCounts& stream = counts_.streams[i];
    const std::string name = "'" + std::string(kStreams[i]) + "'";
    CHECKED(number("SELECT sequence FROM cursors WHERE sink='events' AND stream=" + name, stream.cursor));
    const std::string waits = " WHERE stream=" + name + " AND sequence>" + std::to_string(stream.cursor);
    CHECKED(number("SELECT count(*) FROM events" + waits, stream.records));
    CHECKED(number(sum + waits, stream.bytes));
    CHECKED(number("SELECT count(*) FROM dead WHERE stream=" + name, stream.dead));
    CHECKED(number("SELECT value FROM meta WHERE name='dropped_" + std::string(kStreams[i]) + "'", stream.dropped));
  }
  return {};
}

void Outbox::add(OutboxCounts& counts, std::string_view stream, std::uint64_t bytes) const {
  StreamCounts& of = counts.streams[stream_index(stream)];
  ++of.records;
  of.bytes += bytes;
  ++counts.rows;
  counts.bytes += bytes;
}

// Walks the rows of a stream from the oldest on until enough would be gone, then deletes that range at once.
Result<> Outbox::drop(OutboxCounts& counts, std::size_t stream, bool acknowledged, std::uint64_t keep_rows,
                      std::uint64_t keep_bytes, std::vector<Dropped>& said) {
  if (counts.rows <= keep_rows && counts.bytes <= keep_bytes) return {};
  StreamCounts& of = counts.streams[stream];
  const std::uint64_t from = acknowledged ? 0 : of.cursor;
  const std::uint64_t to = acknowledged ? of.cursor : static_cast<std::uint64_t>(INT64_MAX);
  range_.bind(1, kStreams[stream]);
  range_.bind(2, from);
  range_.bind(3, to);
  std::uint64_t last = 0, rows = 0, bytes = 0;
  int code = range_.step();
  for (; code == SQLITE_ROW && (counts.rows - rows > keep_rows || less(counts.bytes, bytes) > keep_bytes);
       code = range_.step()) {
    last = range_.number(0);
    bytes += range_.number(1) + kRowOverhead;
    ++rows;
  }
  CHECKED(stepped(*connection_, range_, code == SQLITE_ROW ? SQLITE_DONE : code));
  if (rows == 0) return {};
  delete_range_.bind(1, kStreams[stream]);
  delete_range_.bind(2, from);
  delete_range_.bind(3, last);
  CHECKED(connection_->done(delete_range_));
  counts.rows -= rows;
  counts.bytes = less(counts.bytes, bytes);
  if (acknowledged) return {};
  of.records = less(of.records, rows);
  of.bytes = less(of.bytes, bytes);
  of.dropped += rows;
  said.push_back({kStreams[stream], of.cursor + 1, last, of.dropped});
  return connection_->execute("INSERT OR REPLACE INTO meta VALUES('dropped_" + std::string(kStreams[stream]) + "'," +
                              std::to_string(of.dropped) + ")");
}

Result<std::vector<Dropped>> Outbox::trim(OutboxCounts& counts, std::uint64_t max_rows, std::uint64_t max_bytes) {
  std::vector<Dropped> said;
  if (counts.rows <= max_rows && counts.bytes <= max_bytes) return said;
  const std::uint64_t keep_rows = counts.rows > max_rows ? max_rows - max_rows / 20 : max_rows;
  const std::uint64_t keep_bytes = counts.bytes > max_bytes ? max_bytes - max_bytes / 20 : max_bytes;
  // Bulk first, job ends last.
  for (const bool acknowledged : {true, false}) {
    for (const std::string_view stream : {kStateStream, kJobStream})
      CHECKED(drop(counts, stream_index(stream), acknowledged, keep_rows, keep_bytes, said));
  }
  return said;
}

Result<std::vector<OutboxItem>> Outbox::pending(std::string_view stream, std::uint32_t limit) {
  std::vector<OutboxItem> out;
  const auto read = [&](Statement& rows, bool again) -> Result<> {
    int code = rows.step();
    for (; code == SQLITE_ROW; code = rows.step())
      out.push_back({{0, rows.number(0), {}, rows.text(1), rows.text(2), rows.text(3), rows.text(4)}, again});
    return stepped(*connection_, rows, code);
  };
  again_.bind(1, stream);
  again_.bind(2, std::uint64_t{limit});
  CHECKED(read(again_, true));
  if (!out.empty()) return out;
  pending_.bind(1, stream);
  pending_.bind(2, counts_.streams[stream_index(stream)].cursor);
  pending_.bind(3, std::uint64_t{limit});
  CHECKED(read(pending_, false));
  return out;
}

Result<> Outbox::advance(OutboxCounts& counts, std::string_view stream, std::uint64_t to) {
  StreamCounts& of = counts.streams[stream_index(stream)];
  range_.bind(1, stream);
  range_.bind(2, of.cursor);
  range_.bind(3, to);
  int code = range_.step();
  for (; code == SQLITE_ROW; code = range_.step()) {
    of.records = less(of.records, 1);
    of.bytes = less(of.bytes, range_.number(1) + kRowOverhead);
  }
  CHECKED(stepped(*connection_, range_, code));
  of.cursor = to;
  set_cursor_.bind(1, stream);
  set_cursor_.bind(2, to);
  return connection_->done(set_cursor_);
}

Result<> Outbox::want(OutboxCounts& counts) {
  counts.wanted = true;
  return connection_->done(want_);
}

Result<> Outbox::trim_dead(OutboxCounts& counts, std::size_t stream) {
  StreamCounts& of = counts.streams[stream];
  if (of.dead <= kMaxDead) return {};
  oldest_dead_.bind(1, kStreams[stream]);
  const int code = oldest_dead_.step();
  const std::uint64_t sequence = code == SQLITE_ROW ? oldest_dead_.number(0) : 0;
  oldest_dead_.reset();
  return sequence == 0 ? Result<>() : forget_dead(counts, kStreams[stream], sequence);
}

Result<> Outbox::bury(OutboxCounts& counts, std::string_view stream, std::uint64_t sequence, std::string_view reason,
                      std::string_view now) {
  bury_.bind(1, reason);
  bury_.bind(2, now);
  bury_.bind(3, sequence);
  CHECKED(connection_->done(bury_));
  ++counts.streams[stream_index(stream)].dead;
  CHECKED(trim_dead(counts, stream_index(stream)));
  return advance(counts, stream, sequence);
}

Result<> Outbox::rebury(std::uint64_t sequence, std::string_view reason, std::string_view now) {
  rebury_.bind(1, reason);
  rebury_.bind(2, now);
  rebury_.bind(3, sequence);
  return connection_->done(rebury_);
}

Result<> Outbox::forget_dead(OutboxCounts& counts, std::string_view stream, std::uint64_t sequence) {
  forget_dead_.bind(1, sequence);
  CHECKED(connection_->done(forget_dead_));
  std::uint64_t& dead = counts.streams[stream_index(stream)].dead;
  dead = less(dead, 1);
  return {};
}

Result<std::vector<DeadLetter>> Outbox::dead_letters() {
  std::vector<DeadLetter> out;
  int code = dead_.step();
  for (; code == SQLITE_ROW; code = dead_.step()) {
    DeadLetter letter;
    letter.event = {0, dead_.number(0), {}, dead_.text(1), dead_.text(2), dead_.text(3), dead_.text(4)};
    letter.stream = dead_.text(5);
    letter.reason = dead_.text(6);
    letter.refused = dead_.text(7);
    letter.again = dead_.number(8) != 0;
    out.push_back(std::move(letter));
  }
  CHECKED(stepped(*connection_, dead_, code));
  return out;
}

Result<std::uint64_t> Outbox::replay(std::uint64_t sequence) {
  Statement& statement = sequence == 0 ? replay_all_ : replay_;
  if (sequence != 0) statement.bind(1, sequence);
  CHECKED(connection_->done(statement));
  TRY(const std::string changed, connection_->one_text("SELECT changes()"));
  return static_cast<std::uint64_t>(std::stoull("0" + changed));
}

Result<std::string> Outbox::oldest(std::string_view stream) {
  pending_.bind(1, stream);
  pending_.bind(2, counts_.streams[stream_index(stream)].cursor);
  pending_.bind(3, std::uint64_t{1});
  const int code = pending_.step();
  std::string out = code == SQLITE_ROW ? pending_.text(1) : std::string();
  CHECKED(stepped(*connection_, pending_, code == SQLITE_ROW ? SQLITE_DONE : code));
  return out;
}

}  // namespace nvstripe::store
