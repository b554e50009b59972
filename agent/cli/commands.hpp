// Owns the list of commands: one function and one file each; main.cpp alone knows how they are spelled on the command line.
#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "agent/cli/context.hpp"

namespace nvstripe::cli {

struct Machine {     // where devices and plan look
  std::string host;  // a captured machine; empty: ask the agent
  std::string spec;  // a spec file; empty: the one in force
};

int devices(const Context& context, const Machine& machine);
int plan(const Context& context, const Machine& machine);
int apply(const Context& context, const std::string& accept);
int status(const Context& context);
int volumes(const Context& context);
int wait_for_volumes(const Context& context, const std::vector<std::string>& names, std::chrono::milliseconds timeout);
int hold(const Context& context, const std::string& object);
int release(const Context& context, const std::string& volume);
int revert(const Context& context);
int events(const Context& context, bool follow, unsigned limit);
int dead_events(const Context& context);                              // refused upstream
int replay_events(const Context& context, const std::string& which);  // a sequence, or "all"
int config_check(const Context& context, const std::string& file);
int config_show(const Context& context);
int config_schema(const Context& context);
int identity(const Context& context);
int identity_adopt(const Context& context);
int bundle(const Context& context, const std::string& file);

// Tables that two commands print.
// `devices` is the answer of GET /v1/devices, so that drives which are written to are named as a person knows them.
void print_plan(const Context& context, const boost::json::value& document, const boost::json::value& devices = nullptr);
void print_conflicts(const Context& context, const boost::json::value& document);
[[nodiscard]] bool has_open_conflicts(const boost::json::value& document);  // others than notes
[[nodiscard]] int plan_exit_code(const boost::json::value& document);
void print_volumes(const Context& context, const boost::json::value& document);

}  // namespace nvstripe::cli
