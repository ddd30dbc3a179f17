#include "podere/controller/what_if_answer.h"

#include <fmt/format.h>

#include <algorithm>

#include "podere/base/json.h"
#include "podere/farm/what_if.h"

namespace podere::controller {
namespace {

Json waiting_json(const farm::Waiting& waiting) {
  return {{"for_start", waiting.for_start},
          {"for_drain", waiting.for_drain},
          {"for_runtime", waiting.for_runtime},
          {"for_retry", waiting.for_retry},
          {"for_room", waiting.for_room},
          {"too_large", waiting.too_large},
          {"held_by_others", waiting.held_by_others},
          {"for_gang", waiting.for_gang}};
}

Json answer_json(const LiveState& live, const farm::WhatIf& answer, const std::string& farm, int executors) {
  const farm::Outlook& after = answer.after;
  Json reclaimed_from = Json::object();
  for (const farm::FarmExecutors& borrower : answer.reclaimed_from) {
    reclaimed_from[live.state.farms[static_cast<std::size_t>(borrower.farm)].key] = borrower.executors;
  }
  Json json = {{"farm", farm},
               {"executors", executors},
               {"executors_now", answer.before.demand},
               {"manager", live.manager},
               {"held", after.held},
               {"at_once", after.guarantee.for_start + after.beyond.for_start},
               {"released", answer.released},
               {"guaranteed", after.guaranteed},
               {"share", after.share},
               {"below_guarantee", waiting_json(after.guarantee)},
               {"beyond", waiting_json(after.beyond)},
               {"drained_within_seconds", nullptr},
               {"would_be_reclaimed_from", reclaimed_from},
               {"sentence", answer.sentence},
               {"remarks", live.remarks}};
  if (after.drained_by > 0) json["drained_within_seconds"] = std::max(0.0, after.drained_by - live.state.now);
  return json;
}

std::string count_text(int executors) { return fmt::format("{} executor{}", executors, executors == 1 ? "" : "s"); }

/// A line for each of the executors' lots.
std::string answer_text(const LiveState& live, const farm::WhatIf& answer, const std::string& farm, int executors) {
  const int now = answer.before.demand;
  std::string text = executors == now
                         ? fmt::format("{} wants {} now:\n", farm, count_text(now))
                         : fmt::format("{}, if it wanted {} ({} now):\n", farm, count_text(executors), now);
  if (answer.after.held > 0) text += fmt::format("  {} running\n", answer.after.held);
  if (answer.released > 0) text += fmt::format("  {} would drain and end\n", answer.released);
  for (const std::string& lot : answer.waits) text += fmt::format("  {}\n", lot);
  for (const farm::FarmExecutors& borrower : answer.reclaimed_from) {
    const farm::Farm& from = live.state.farms[static_cast<std::size_t>(borrower.farm)];
    text += fmt::format("{} would be reclaimed from {}, with {:g} s to save their work\n", borrower.executors, from.key,
                        from.drain_seconds);
  }
  if (answer.reclaimed_from.empty()) text += "no other executors would be reclaimed\n";
  for (const std::string& remark : live.remarks) text += remark + "\n";
  return text;
}

}  // namespace

WhatIfAnswer answer_what_if(const LiveState& live, const farm::Policy& policy, const std::string& farm, int executors) {
  const farm::WhatIf answer = farm::what_if(live.state, policy, farm, executors);
  return {answer_json(live, answer, farm, executors), answer_text(live, answer, farm, executors)};
}

}  // namespace podere::controller
