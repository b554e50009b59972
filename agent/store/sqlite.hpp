// Owns the C++ face of SQLite: a connection and its statements, errors in our words. Knows no table.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <sqlite3.h>

#include "agent/base/result.hpp"

namespace nvstripe::store {

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

class Statement {
 public:
  Statement() = default;
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  void reset();
  void bind(int index, std::string_view text);
  void bind(int index, std::uint64_t number);  // kept as a signed 64-bit integer
  [[nodiscard]] int step() { return sqlite3_step(statement_.get()); }
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] std::uint64_t number(int column) const;

 private:
  std::unique_ptr<sqlite3_stmt, FinalizeStatement> statement_;
};

class Connection {
 public:
  [[nodiscard]] static Result<Connection> open(const std::string& path);
  [[nodiscard]] Result<> execute(const std::string& sql);
  [[nodiscard]] Result<Statement> prepare(std::string_view sql);
  [[nodiscard]] Result<std::string> one_text(std::string_view sql);  // first column of the first row; empty without a row
  [[nodiscard]] Result<> done(Statement& statement);                 // steps a statement that answers no rows, and resets it
  // The last error in our words: busy, full and damaged say what the reader can do.
  [[nodiscard]] tl::unexpected<Error> failure(std::string_view doing) const;
  [[nodiscard]] static bool is_damage(const Error& error);

 private:
  std::unique_ptr<sqlite3, CloseDatabase> database_;
  std::string path_;
};

}  // namespace nvstripe::store
