// Owns what the uplink and people ask of the outbox. An answer is taken only for the epoch it was given in, and never beyond
// what was written: whoever acknowledges too much would lose events.
#include <boost/json.hpp>

#include "agent/base/text.hpp"
#include "agent/model/event.hpp"
#include "agent/model/json.hpp"
#include "agent/store/sqlite_store.hpp"

namespace nvstripe::store {

Result<std::uint64_t> SqliteStore::dropped_events() {
  const std::lock_guard lock(mutex_);
  std::uint64_t dropped = 0;
  for (const StreamCounts& stream : outbox_.counts().streams) dropped += stream.dropped;
  return dropped;
}

Result<std::vector<OutboxItem>> SqliteStore::pending(const std::string& stream, std::uint32_t limit) {
  const std::lock_guard lock(mutex_);
  if (!outbox_.counts().wanted) {
    CHECKED(transact([&](std::uint64_t&, OutboxCounts& counts) { return outbox_.want(counts); }));
  }
  TRY(auto items, outbox_.pending(stream, limit));
  for (OutboxItem& item : items) item.event = whole(std::move(item.event));
  return items;
}

Result<> SqliteStore::check_answer(const Answered& answered) const {
  const bool fits = answered.epoch == epoch_ && answered.sequence > 0 && answered.sequence <= last_sequence_;
  if (fits) return {};
  return fail("event " + std::to_string(answered.epoch) + "-" + std::to_string(answered.sequence) + " is not known here",
              "ask again what is pending: the state file may have been begun anew",
              std::make_error_code(std::errc::invalid_argument));
}

Result<> SqliteStore::acknowledge(const Answered& answered) {
  const std::lock_guard lock(mutex_);
  CHECKED(check_answer(answered));
  return transact([&](std::uint64_t&, OutboxCounts& counts) -> Result<> {
    if (answered.again) return outbox_.forget_dead(counts, answered.stream, answered.sequence);
    if (answered.sequence <= counts.streams[stream_index(answered.stream)].cursor) return {};
    return outbox_.advance(counts, answered.stream, answered.sequence);
  });
}

Result<Event> SqliteStore::next_of(const Answered& answered) {
  TRY(const auto next, outbox_.pending(answered.stream, 1));
  if (next.empty() || next[0].event.sequence != answered.sequence || next[0].again != answered.again)
    return fail("event " + std::to_string(answered.sequence) + " is not the next one of its stream",
                "ask again what is pending", std::make_error_code(std::errc::invalid_argument));
  return next[0].event;
}

Result<> SqliteStore::refuse(const Answered& answered, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  CHECKED(check_answer(answered));
  TRY(const Event next, next_of(answered));
  const std::string now = now_rfc3339(), why = printable(reason);
  return transact([&](std::uint64_t& sequence, OutboxCounts& counts) -> Result<> {
    if (answered.again) return outbox_.rebury(answered.sequence, why, now);
    CHECKED(outbox_.bury(counts, answered.stream, answered.sequence, why, now));
    if (next.type == event::kEventRefused) return {};  // else a receiver that takes none of them would be told without end
    const boost::json::object data{
        {"stream", answered.stream}, {"sequence", answered.sequence}, {"type", next.type}, {"reason", why}};
    CHECKED(put_event({std::string(event::kEventRefused), "outbox/" + answered.stream, json::text(data)}, now, sequence,
                      counts));
    return set_meta("sequence", sequence);
  });
}

Result<std::vector<DeadLetter>> SqliteStore::dead_letters() {
  const std::lock_guard lock(mutex_);
  TRY(auto letters, outbox_.dead_letters());
  for (DeadLetter& letter : letters) letter.event = whole(std::move(letter.event));
  return letters;
}

Result<std::uint64_t> SqliteStore::replay(std::uint64_t sequence) {
  const std::lock_guard lock(mutex_);
  std::uint64_t count = 0;
  CHECKED(transact([&](std::uint64_t&, OutboxCounts&) -> Result<> {
    TRY(count, outbox_.replay(sequence));
    return {};
  }));
  return count;
}

Result<std::vector<StreamState>> SqliteStore::streams() {
  const std::lock_guard lock(mutex_);
  std::vector<StreamState> out;
  for (const std::string_view name : kStreams) {
    const StreamCounts& counts = outbox_.counts().streams[stream_index(name)];
    TRY(std::string oldest, outbox_.oldest(name));
    out.push_back({std::string(name), std::move(oldest), counts.records, counts.bytes, counts.dead, counts.dropped});
  }
  return out;
}

}  // namespace nvstripe::store
