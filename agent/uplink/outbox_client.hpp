// Owns the outbox's routes as the uplink asks them, over the agent's socket.
#pragma once
#include <chrono>
#include <string>

#include "agent/uplink/delivery.hpp"

namespace nvstripe::uplink {

class OutboxClient final : public Outbox {
 public:
  explicit OutboxClient(std::string socket) : socket_(std::move(socket)) {}
  [[nodiscard]] Result<std::vector<Waiting>> pull(const std::string& stream) override;
  [[nodiscard]] Result<> acknowledge(const std::string& stream, const Waiting& event) override;
  [[nodiscard]] Result<> refuse(const std::string& stream, const Waiting& event, const std::string& reason) override;

 private:
  std::string socket_;
};

}  // namespace nvstripe::uplink
