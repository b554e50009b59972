// Owns the lock around the one store, so that the API may read events while the engine writes. A commit takes milliseconds;
// nothing else is done while the lock is held.
#pragma once
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "agent/store/store.hpp"

namespace nvstripe::api {

class SharedStore final : public Journal {
 public:
  explicit SharedStore(std::unique_ptr<store::Store> store) : store_(std::move(store)) {}
  // Without jobs: nothing is planned from them, and each look and snapshot would carry a thousand.
  [[nodiscard]] Result<Records> records() override {
    const std::lock_guard lock(mutex_);
    auto records = store_->records();
    if (records) records->jobs.clear();
    return records;
  }
  [[nodiscard]] Result<> write(const std::vector<Record>& records, const std::vector<EventDraft>& events) override {
    const std::lock_guard lock(mutex_);
    return store_->write(records, events);
  }
  [[nodiscard]] Result<std::vector<Event>> events(const store::EventQuery& query) {
    const std::lock_guard lock(mutex_);
    return store_->events(query);
  }

  // Runs `ask` on the store under the lock.
  template <class Ask>
  [[nodiscard]] auto locked(Ask ask) {
    const std::lock_guard lock(mutex_);
    return ask(*store_);
  }

 private:
  std::mutex mutex_;
  std::unique_ptr<store::Store> store_;
};

}  // namespace nvstripe::api
