// Owns opening the state file, and what happens when it is damaged: it is set aside, never repaired by guessing.
#include "agent/store/store.hpp"

#include <sys/stat.h>
#include <filesystem>

#include <boost/json.hpp>

#include "agent/base/text.hpp"
#include "agent/model/event.hpp"
#include "agent/store/sqlite_store.hpp"

namespace nvstripe::store {
namespace {

Result<std::unique_ptr<SqliteStore>> open_once(const std::string& path, const OpenOptions& options) {
  TRY(Connection connection, Connection::open(path));
  auto store = std::make_unique<SqliteStore>(std::move(connection), path, options);
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
