// Owns what each request does: plan, apply, hold, release, revert, identity adopt. All run in the engine thread, between
// passes, so that nothing is done twice at once.
#include "agent/daemon/engine.hpp"

#include <poll.h>

#include <algorithm>

#include <boost/json.hpp>

#include "agent/engine/happened.hpp"
#include "agent/engine/planner.hpp"
#include "agent/model/event.hpp"
#include "agent/model/json.hpp"

namespace nvstripe::daemon {
namespace {

EventDraft event_of(std::string_view type, const std::string& on, boost::json::object data = {}) {
  return EventDraft{std::string(type), event_subject(on), json::text(data)};
}

// Holds of objects that the spec names, and of everything: what `apply` applies.
std::vector<std::string> holds_to_lift(const Records& records, const Spec& spec) {
  std::vector<std::string> objects;
  for (const HoldRecord& hold : records.holds) {
    bool named = hold.object == "all" || hold.object == "tuning";
    for (const VolumeSpec& volume : spec.volumes) named = named || hold.object == "volume:" + volume.name;
    for (const ExportSpec& entry : spec.exports) named = named || hold.object == "export:" + entry.name;
    for (const ConnectionSpec& entry : spec.connections) named = named || hold.object == "connection:" + entry.name;
    if (named) objects.push_back(hold.object);
  }
  return objects;
}

Error error_of(std::string what, std::string remedy) { return Error{std::move(what), std::move(remedy), {}}; }

}  // namespace

void Engine::serve(const api::Request& request) {
  switch (request.verb) {
    case api::Verb::plan:
      return plan(request);
    case api::Verb::apply:
      return apply(request);
    case api::Verb::hold:
      return hold(request);
    case api::Verb::release:
      return release(request);
    case api::Verb::revert:
      return revert(request);
    case api::Verb::adopt:
      return adopt(request);
  }
}

void Engine::finish(const api::Request& request, const Error& error) {
  parts_.board.finish(request.id, {}, error.what, error.remedy, {});
}

void Engine::plan(const api::Request& request) {
  Spec spec;
  if (request.argument.empty()) {
    refresh_spec(false);
    const api::SpecState& state = parts_.specs.state();
    if (!state.problem.empty()) return finish(request, error_of(state.problem, state.remedy));
    if (state.loaded.empty())
      return finish(request,
                    error_of("there is no spec yet", "write '/etc/nvstripe/nvstripe.yaml', see 'nvstripe config schema'"));
    spec = state.spec;
  } else {
    auto parsed = parts_.parse({SpecText{"the given spec", request.argument}});
    if (!parsed) return finish(request, parsed.error());
    spec = std::move(*parsed);
  }
  // Targets are followed for the spec in force alone: a plan must not make root knock at addresses that somebody wrote into
  // a text, nor drop the targets that are waited for.
  constexpr FacetSet kWithoutTargets = kAllFacets & ~static_cast<FacetSet>(FacetName::targets);
  Inventory seen = parts_.world.look(spec, request.argument.empty() ? kAllFacets : kWithoutTargets);
  const auto records = parts_.store.records();
  seen.records = records ? Facet<Records>::known(*records) : Facet<Records>::unavailable(records.error().what);
  const Plan made = make_plan(spec, seen);
  parts_.board.finish(request.id, {}, {}, {}, json::text(json::plan_document(made)));
}

// A connection's drives come a moment after it is made (the kernel scans by itself), so one pass may end too early.
std::vector<ActionOutcome> Engine::pass_until_settled(const api::Request& request) {
  constexpr int kRounds = 10, kRoundMs = 500;
  std::vector<ActionOutcome> outcomes;
  for (int round = 0; round < kRounds && !stopping_; ++round) {
    if (round > 0) ::poll(nullptr, 0, kRoundMs);
    pass(Permission{true, round == 0 ? request.argument : std::string()}, request.id);
    outcomes.insert(outcomes.end(), report_.outcomes.begin(), report_.outcomes.end());
    const auto& conflicts = report_.plan.conflicts;
    const bool waits = std::any_of(conflicts.begin(), conflicts.end(),
                                   [](const Conflict& conflict) { return conflict.standing == Standing::waiting; });
    if (!waits || outcomes.empty() || !pass_error_.empty()) break;
  }
  return outcomes;
}

void Engine::apply(const api::Request& request) {
  refresh_spec(true);
  const api::SpecState& state = parts_.specs.state();
  if (!state.problem.empty()) return finish(request, error_of(state.problem, state.remedy));
  if (state.loaded.empty())
    return finish(request,
                  error_of("there is no spec yet", "write '/etc/nvstripe/nvstripe.yaml', see 'nvstripe config schema'"));
  const auto records = parts_.store.records();
  if (!records) return finish(request, records.error());
  std::vector<Record> lifted;
  std::vector<EventDraft> events;
  for (const std::string& object : holds_to_lift(*records, state.spec)) {
    lifted.push_back(Forget{"hold", object});
    events.push_back(event_of(event::kHoldLifted, object));
  }
  if (!request.argument.empty()) events.push_back(event_of(event::kAcceptanceGiven, "plan", {{"digest", request.argument}}));
  if (!events.empty())
    if (const auto written = parts_.store.write(lifted, events); !written) return finish(request, written.error());
  const std::vector<ActionOutcome> outcomes = pass_until_settled(request);
  if (!pass_error_.empty()) return finish(request, error_of(pass_error_, "try again; 'journalctl -u nvstriped' says more"));
  Error error;
  const bool failed =
      std::any_of(outcomes.begin(), outcomes.end(), [](const ActionOutcome& outcome) { return !outcome.error.empty(); });
  if (!request.argument.empty() && !report_.plan.digest.empty() && report_.plan.digest != request.argument && !failed)
    error = error_of("what would be destroyed is not what '" + request.argument + "' accepted",
                     "read 'nvstripe plan' again; its digest is '" + report_.plan.digest + "'");
  parts_.board.finish(request.id, outcomes, error.what, error.remedy, json::text(json::plan_document(report_.plan)));
}

void Engine::hold(const api::Request& request) {
  const std::string& object = request.argument;
  const Spec& spec = parts_.specs.state().spec;
  const auto records = parts_.store.records();
  if (!records) return finish(request, records.error());
  bool known = object == "all" || object == "tuning";
  for (const VolumeSpec& volume : spec.volumes) known = known || object == "volume:" + volume.name;
  for (const VolumeRecord& volume : records->volumes) known = known || object == "volume:" + volume.name;
  for (const ExportSpec& entry : spec.exports) known = known || object == "export:" + entry.name;
  if (!known)
    return finish(request, error_of("there is no '" + object + "' to hold", "'nvstripe volumes' lists the volumes"));
  const bool kept = std::any_of(records->holds.begin(), records->holds.end(),
                                [&](const HoldRecord& hold) { return hold.object == object; });
  if (!kept) {  // a release stays a release
    boost::json::object data{{"why", "hold"}};
    const auto written = parts_.store.write({HoldRecord{object, "hold"}}, {event_of(event::kHoldSet, object, data)});
    if (!written) return finish(request, written.error());
  }
  pass({}, 0);
  parts_.board.finish(request.id, {}, {}, {}, {});
}

void Engine::release(const api::Request& request) {
  const std::string& name = request.argument;
  const auto records = parts_.store.records();
  if (!records) return finish(request, records.error());
  if (records->volume(name) == nullptr && parts_.specs.state().spec.volume(name) == nullptr)
    return finish(request, error_of("there is no volume '" + name + "'", "'nvstripe volumes' lists the volumes"));
  const std::string object = "volume:" + name;
  boost::json::object data{{"why", "release"}};
  const auto written = parts_.store.write({HoldRecord{object, "release"}}, {event_of(event::kHoldSet, object, data)});
  if (!written) return finish(request, written.error());
  // One action with all steps that are left; it is wanted once, not until it is no longer wanted.
  bool drafted = false;
  carry_out(request, [&](const Spec& spec, const Inventory& seen) {
    Draft draft = drafted ? Draft{} : parts_.release_volume(spec, seen, name);
    drafted = drafted || !draft.actions.empty();
    return draft;
  });
}

void Engine::revert(const api::Request& request) {
  boost::json::object data{{"why", "revert"}};
  const auto written = parts_.store.write({HoldRecord{"tuning", "revert"}}, {event_of(event::kHoldSet, "tuning", data)});
  if (!written) return finish(request, written.error());
  carry_out(request, parts_.revert_tuning);
}

void Engine::carry_out(const api::Request& request, const Reconciler::DraftOf& draft) {
  const auto progress = [this, &request](const Action& action, const ActionOutcome* outcome) {
    show_progress(action, outcome, request.id);
  };
  auto report = reconciler_.carry_out(parts_.specs.state().spec, draft, Permission{true, {}}, parts_.now_ms(), progress);
  parts_.board.set_activity({}, parts_.now_ms());
  if (!report) return finish(request, report.error());
  const auto outcomes = report->outcomes;
  const std::string answer = json::text(json::plan_document(report->plan));
  Error error;
  for (const Conflict& conflict : report->plan.conflicts)
    if (conflict.standing != Standing::note && error.what.empty())
      error = error_of(conflict.subject + ": " + conflict.why, conflict.remedy);
  pass({}, 0);  // status shows the new state before the caller is told that it is done
  parts_.board.finish(request.id, outcomes, error.what, error.remedy, answer);
}

void Engine::adopt(const api::Request& request) {
  const Spec& spec = parts_.specs.state().spec;
  const Inventory seen = parts_.world.look(spec, kAllFacets);
  if (!spec.node.host_id && !seen.identity.is_known())
    return finish(request, error_of("the identity of this machine cannot be seen: " + seen.identity.reason(),
                                    "set node.host_id in the spec"));
  const auto records = parts_.store.records();
  if (!records) return finish(request, records.error());
  IdentityRecord identity;
  identity.host = spec.node.host_id ? *spec.node.host_id : seen.identity.value().computed;
  identity.source = spec.node.host_id ? "spec" : (seen.identity.value().product_uuid.empty() ? "machine_id" : "dmi");
  if (identity.host.is_none())
    return finish(request, error_of("this machine has no identity", "set node.host_id in the spec"));
  boost::json::object data{{"host", to_text(identity.host)},
                           {"previous", records->identity ? to_text(records->identity->host) : std::string()}};
  const auto written = parts_.store.write({identity}, {event_of(event::kIdentityAdopted, "identity", data)});
  if (!written) return finish(request, written.error());
  pass({}, 0);
  parts_.board.finish(request.id, {}, {}, {}, {});
}

}  // namespace nvstripe::daemon
