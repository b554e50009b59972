// Owns the class behind Store; store.cpp opens it, sqlite_store.cpp keeps records and events, store_outbox.cpp what upstream
// asks.
#pragma once
#include <functional>
#include <mutex>

#include "agent/store/outbox.hpp"
#include "agent/store/sqlite.hpp"
#include "agent/store/store.hpp"

namespace nvstripe::store {

[[nodiscard]] std::string now_rfc3339();
[[nodiscard]] std::uint64_t new_epoch();

class SqliteStore final : public Store {
 public:
  SqliteStore(Connection connection, std::string path, const OpenOptions& options)
      : connection_(std::move(connection)), path_(std::move(path)), options_(options) {}

  Result<> begin();  // migrates, checks and loads
  Result<Records> records() override;
  Result<> write(const std::vector<Record>& records, const std::vector<EventDraft>& events) override;
  Result<std::vector<Event>> events(const EventQuery& query) override;
  Result<std::uint64_t> dropped_events() override;
  Result<std::vector<OutboxItem>> pending(const std::string& stream, std::uint32_t limit) override;
  Result<> acknowledge(const Answered& answered) override;
  Result<> refuse(const Answered& answered, const std::string& reason) override;
  Result<std::vector<DeadLetter>> dead_letters() override;
  Result<std::uint64_t> replay(std::uint64_t sequence) override;
  Result<std::vector<StreamState>> streams() override;
  std::string source() const override { return source_; }
  std::uint64_t epoch() const override { return epoch_; }

 private:
  Result<> migrate();
  Result<> load();
  Result<> prepare_statements();
  Result<> write_rows(const std::vector<Record>& records, const std::vector<EventDraft>& events, std::uint64_t& sequence,
                      OutboxCounts& counts);
  Result<> set_meta(std::string_view name, std::uint64_t value);
  Result<> put_event(const EventDraft& draft, std::string_view time, std::uint64_t& sequence, OutboxCounts& counts,
                     std::string_view stream = {});  // empty: as its type says
  Result<> make_room(std::string_view time, std::uint64_t& sequence, OutboxCounts& counts);
  // Runs `change` in a transaction of its own and takes over what it counted.
  Result<> transact(const std::function<Result<>(std::uint64_t& sequence, OutboxCounts& counts)>& change);
  Result<> check_answer(const Answered& answered) const;
  Result<Event> next_of(const Answered& answered);
  Event whole(Event event) const;
  std::uint64_t room() const;

  std::mutex mutex_;
  Connection connection_;
  std::string path_;
  OpenOptions options_;
  Records cache_;  // equal to the table: one connection, and changed only after a commit
  std::uint64_t epoch_ = 0, last_sequence_ = 0;
  std::string source_;
  std::uint64_t tight_rows_ = 0;  // rows there were when free space became short; 0: it is not
  Outbox outbox_;
  Statement put_record_, drop_record_, put_event_, put_meta_, oldest_, newest_;
};

}  // namespace nvstripe::store
