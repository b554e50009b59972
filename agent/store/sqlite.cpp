// Owns the calls into SQLite and the words of its errors.
#include "agent/store/sqlite.hpp"

namespace nvstripe::store {
namespace {

class SqliteCategory : public std::error_category {
 public:
  const char* name() const noexcept override { return "sqlite"; }
  std::string message(int code) const override { return sqlite3_errstr(code); }
};
const SqliteCategory kCategory;

constexpr int kBusyTimeoutMs = 2'000;  // another nvstriped that is just ending lets go within this time

std::string_view remedy_of(int code) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "end the other program that has it open; only one nvstriped may run";
    case SQLITE_FULL:
      return "make room on its file system; nothing is changed on this machine until the journal can be written";
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      return "make its folder writable for root";
    case SQLITE_IOERR:
      return "see the kernel's log for errors of its disk, and whether its file system is full";
    default:
      return "see 'nvstripe doctor'";
  }
}

}  // namespace

void Statement::reset() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
}
void Statement::bind(int index, std::string_view text) {
  sqlite3_bind_text(statement_.get(), index, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
}
void Statement::bind(int index, std::uint64_t number) {
  sqlite3_bind_int64(statement_.get(), index, static_cast<sqlite3_int64>(number));
}
std::string Statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (bytes == nullptr) return {};
  return std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column)));
}
std::uint64_t Statement::number(int column) const {
  return static_cast<std::uint64_t>(sqlite3_column_int64(statement_.get(), column));
}

Result<Connection> Connection::open(const std::string& path) {
  sqlite3* raw = nullptr;
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const int code = sqlite3_open_v2(path.c_str(), &raw, kFlags, nullptr);
  Connection connection;
  connection.database_.reset(raw);
  connection.path_ = path;
  if (code != SQLITE_OK) return connection.failure("open");
  sqlite3_busy_timeout(raw, kBusyTimeoutMs);
  return connection;
}

Result<> Connection::execute(const std::string& sql) {
  if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return failure("change");
  return {};
}

Result<Statement> Connection::prepare(std::string_view sql) {
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v3(database_.get(), sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                                      &raw, nullptr);
  if (code != SQLITE_OK) return failure("read");
  return Statement(raw);
}

Result<std::string> Connection::one_text(std::string_view sql) {
  TRY(Statement statement, prepare(sql));
  const int code = statement.step();
  if (code == SQLITE_ROW) return statement.text(0);
  if (code == SQLITE_DONE) return std::string();
  return failure("read");
}

Result<> Connection::done(Statement& statement) {
  const int code = statement.step();
  if (code == SQLITE_DONE) {
    statement.reset();
    return {};
  }
  auto failed = failure("write");  // before the reset, which forgets why
  statement.reset();
  return failed;
}

tl::unexpected<Error> Connection::failure(std::string_view doing) const {
  const int code = database_ ? sqlite3_extended_errcode(database_.get()) : SQLITE_NOMEM;
  std::string what = "cannot " + std::string(doing) + " state file '" + path_ + "': ";
  what += database_ ? sqlite3_errmsg(database_.get()) : "out of memory";
  return fail(std::move(what), std::string(remedy_of(code)), std::error_code(code, kCategory));
}

bool Connection::is_damage(const Error& error) {
  if (error.cause.category() != kCategory) return false;
  const int code = error.cause.value() & 0xff;
  return code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
}

}  // namespace nvstripe::store
