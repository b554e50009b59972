// Owns the rows that wait for upstream: which are acknowledged, which a receiver refused, which must go when the file is
// full. All calls are made within the store's transaction and lock; `counts` in memory changes only after a commit.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "agent/store/sqlite.hpp"
#include "agent/store/store.hpp"

namespace nvstripe::store {

struct StreamCounts {
  std::uint64_t cursor = 0;              // the last acknowledged sequence
  std::uint64_t records = 0, bytes = 0;  // after the cursor
  std::uint64_t dead = 0, dropped = 0;
};

struct OutboxCounts {
  std::array<StreamCounts, kStreams.size()> streams;
  std::uint64_t rows = 0, bytes = 0;  // of all events kept, acknowledged ones too
  bool wanted = false;                // somebody pulled once: from then on a gap is said
};

// Unacknowledged events that went. `first` is the one after the cursor, so that a record of an earlier gap, which may itself
// be among those that went, is not missed.
struct Dropped {
  std::string_view stream;
  std::uint64_t first = 0, last = 0, total = 0;  // total: of this stream in this epoch
};

class Outbox {
 public:
  [[nodiscard]] Result<> load(Connection& connection);
  [[nodiscard]] const OutboxCounts& counts() const { return counts_; }
  void commit(const OutboxCounts& counts) { counts_ = counts; }

  void add(OutboxCounts& counts, std::string_view stream, std::uint64_t bytes) const;
  // Makes the table fit `max_rows` and `max_bytes`: acknowledged rows go first, then unacknowledged ones of the state
  // stream, job ends last. A twentieth more goes at once, so that a full outbox does not tell a gap with each write.
  [[nodiscard]] Result<std::vector<Dropped>> trim(OutboxCounts& counts, std::uint64_t max_rows, std::uint64_t max_bytes);

  [[nodiscard]] Result<std::vector<OutboxItem>> pending(std::string_view stream, std::uint32_t limit);
  // Moves the cursor; 0 rows are left behind it.
  [[nodiscard]] Result<> advance(OutboxCounts& counts, std::string_view stream, std::uint64_t to);
  [[nodiscard]] Result<> want(OutboxCounts& counts);

  [[nodiscard]] Result<> bury(OutboxCounts& counts, std::string_view stream, std::uint64_t sequence, std::string_view reason,
                              std::string_view now);
  [[nodiscard]] Result<> rebury(std::uint64_t sequence, std::string_view reason, std::string_view now);
  [[nodiscard]] Result<> forget_dead(OutboxCounts& counts, std::string_view stream, std::uint64_t sequence);
  [[nodiscard]] Result<std::vector<DeadLetter>> dead_letters();
  [[nodiscard]] Result<std::uint64_t> replay(std::uint64_t sequence);  // 0: all
  [[nodiscard]] Result<std::string> oldest(std::string_view stream);

 private:
  [[nodiscard]] Result<> load_counts();
  [[nodiscard]] Result<> drop(OutboxCounts& counts, std::size_t stream, bool acknowledged, std::uint64_t keep_rows,
                              std::uint64_t keep_bytes, std::vector<Dropped>& said);
  [[nodiscard]] Result<> trim_dead(OutboxCounts& counts, std::size_t stream);

  Connection* connection_ = nullptr;
  OutboxCounts counts_;
  Statement pending_, again_, range_, delete_range_, set_cursor_, want_, bury_, rebury_, forget_dead_, dead_, replay_,
      replay_all_, oldest_dead_;
};

// What an event costs in the file, near enough for a bound.
[[nodiscard]] std::uint64_t row_bytes(std::string_view type, std::string_view subject, std::string_view data);

}  // namespace nvstripe::store
