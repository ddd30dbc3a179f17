#include "podere/controller/what_ifs.h"

#include <fmt/format.h>

#include <algorithm>

#include "podere/base/error.h"
#include "podere/controller/json.h"
#include "podere/controller/live_state.h"
#include "podere/controller/what_if_answer.h"

namespace podere::controller {
namespace {

constexpr double kKeptSeconds = 60;
constexpr int kAtATime = 10;
constexpr double kPauseSeconds = 1;

/// As the status says it.
Json answer_to(const Stores& stores, const kube::ObjectKey& farm, const Question& question) {
  try {
    const LiveState live = live_state(stores, farm);
    farm::Policy policy = live.policy;
    if (!question.mode.empty()) policy.mode = mode_named(question.mode);
    const WhatIfAnswer answer = answer_what_if(live, policy, farm.text(), question.executors);
    return {{"text", answer.text}, {"answer", Json(answer.json)}};
  } catch (const InputError& error) {
    return {{"error", error.what()}};
  }
}

}  // namespace

Question question_of(const Json& what_if) {
  const Json& spec = object_at(what_if, {"spec"});
  return {.uid = std::string(kube::uid_of(what_if)),
          .farm = std::string(kube::text_at(spec, {"farm"})),
          .executors = static_cast<int>(std::clamp<std::int64_t>(integer_at(spec, "executors", 0), 0, 100'000)),
          .mode = std::string(kube::text_at(spec, {"mode"})),
          .created = time_at(what_if, {"metadata", "creationTimestamp"}),
          .is_answered = !object_at(what_if, {"status"}).empty()};
}

double WhatIfs::answer(const Objects<Question>& questions, double now) {
  int n_done = 0;
  double next = kNever;
  for (const auto& [key, question] : questions) {
    if (!stores_.is_looked_after(key.in_namespace)) continue;
    const bool is_over = question->created + kKeptSeconds <= now;
    if (!is_over) next = std::min(next, question->created + kKeptSeconds - now + 1);
    if (question->is_answered && !is_over) continue;
    if (++n_done > kAtATime) return kPauseSeconds;
    try {
      is_over ? writer_.delete_what_if(key, question->uid) : answer(key, *question);
    } catch (const Error& error) {
      log_(fmt::format("what-if {}: {}", key.text(), error.what()));
      next = std::min(next, kPauseSeconds);
    }
  }
  return next;
}

void WhatIfs::answer(const kube::ObjectKey& key, const Question& question) {
  writer_.write_status(kube::kWhatIfs, key, question.uid,
                       answer_to(stores_, {key.in_namespace, question.farm}, question));
}

}  // namespace podere::controller
