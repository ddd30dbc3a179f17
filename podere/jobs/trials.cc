#include "podere/jobs/trials.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "podere/base/error.h"
#include "podere/jobs/cross_validation.h"
#include "podere/jobs/measures.h"

namespace podere::jobs {
namespace {

/// What of a part's facts is no measure.
constexpr const char* kOtherFacts[] = {"rows", "trees", "epochs"};

/// Means of the parts' facts; null where a part has none.
Json mean_facts(const std::vector<Json>& of_parts) {
  Json means = Json::object();
  for (const auto& [name, first] : of_parts.front().items()) {
    double sum = 0;
    for (const Json& facts : of_parts) {
      const Json value = facts.value(name, Json());
      sum += value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
    }
    const double mean = sum / static_cast<double>(of_parts.size());
    means[name] = std::isfinite(mean) ? Json(mean) : Json();
  }
  return means;
}

void check_score(const std::string& score, const Json& facts) {
  std::string names;
  for (const auto& [name, value] : facts.items()) {
    if (std::ranges::find(kOtherFacts, name) != std::end(kOtherFacts)) continue;
    if (name == score) return;
    names += (names.empty() ? "" : ", ") + name;
  }
  throw_input_error("score is '{}', allowed is {}", score, names);
}

}  // namespace

bool is_maximized(const std::string& measure) { return measure == "auc" || measure == "accuracy"; }

std::string default_score(const Json& facts) {
  for (const auto& [name, value] : facts.items()) {
    if (std::ranges::find(kOtherFacts, name) == std::end(kOtherFacts)) return name;
  }
  throw_error("no measure of a trial");
}

Json Trials::options_of(const Json& setting) const {
  Json options = options_;
  options.update(setting);
  return options;
}

Json PausedTrial::to_json() const {
  Json json = Json::array();
  for (const Part& part : parts) json.push_back({part.checkpoint, part.facts});
  return json;
}

PausedTrial PausedTrial::from_json(const Json& json) {
  PausedTrial trial;
  for (const Json& part : json) trial.parts.push_back({part.at(0).get<std::string>(), part.at(1)});
  return trial;
}

std::optional<tune::StepResult> Trials::run(const tune::Step& step, PausedTrial& trial,
                                            const StepContext& context) const {
  const bool has_begun = !trial.parts.empty();
  trial.parts.resize(rows_.is_training.size());
  try {
    const auto trainer = algorithm_.trainer(options_of(step.setting));
    for (std::size_t part = 0; part < trial.parts.size(); ++part) {
      const bool has_ended = has_begun && trial.parts[part].checkpoint.empty();
      if (!has_ended && !train_part(step, *trainer, part, trial.parts[part], context)) {
        trial = {};
        return std::nullopt;
      }
    }
  } catch (const InputError& error) {  // on all ranks
    return tune::StepResult{std::numeric_limits<double>::quiet_NaN(), true, {{"error", error.what()}}};
  }
  return result_of(trial.parts);
}

/// False: it was stopped.
bool Trials::train_part(const tune::Step& step, const algorithm::Trainer& trainer, std::size_t part,
                        PausedTrial::Part& paused, const StepContext& context) const {
  const comm::Communicator& comm = context.comm;
  std::unique_ptr<const algorithm::Checkpoint> so_far;
  comm.agree([&] {
    if (!paused.checkpoint.empty()) so_far = trainer.read_checkpoint(paused.checkpoint, "a paused trial");
  });
  algorithm::Summaries no_summaries;
  algorithm::Run run{.comm = comm,
                     .n_threads = context.n_threads,
                     .progress = context.progress,
                     .checkpoint = so_far.get(),
                     .summaries = no_summaries,
                     .pause_after = step.budget,
                     .shared = &shared_};
  std::string checkpoint;
  run.offer = [&](const std::function<std::string()>& make_text, bool is_wanted) {
    if (is_wanted) checkpoint = make_text();
  };
  const std::vector<std::uint8_t>& is_training = rows_.is_training[part];
  if (rows_.validation == nullptr) run.is_training = is_training;
  const algorithm::Trained trained = trainer.train(table::HeldRows(*rows_.table), rows_.validation, run);
  if (comm.all_reduce(trained.facts.value("was_stopped", false) ? 1 : 0, comm::Reduction::kMax) != 0) return false;
  const table::Table& measured = rows_.validation == nullptr ? *rows_.table : *rows_.validation;
  const std::vector<std::uint8_t> none(rows_.validation == nullptr ? 0 : measured.n_rows());
  Json facts = measure_held_out(*trained.model, measured, rows_.validation == nullptr ? is_training : none, comm,
                                context.n_threads);
  for (const char* length : {"trees", "epochs"}) {
    if (trained.facts.contains(length)) facts[length] = trained.facts.at(length);
  }
  paused = {std::move(checkpoint), std::move(facts)};
  return true;
}

tune::StepResult Trials::result_of(const std::vector<PausedTrial::Part>& parts) const {
  std::vector<Json> of_parts;
  bool has_ended = true;
  for (const PausedTrial::Part& part : parts) {
    of_parts.push_back(part.facts);
    has_ended = has_ended && part.checkpoint.empty();
  }
  Json facts = mean_facts(of_parts);
  const std::string measure = score_.empty() ? default_score(facts) : score_;
  check_score(measure, facts);
  if (facts.at(measure).is_null()) {
    return {std::numeric_limits<double>::quiet_NaN(),
            true,
            {{"error", measure + " is not defined on the rows that were held out, or not finite"}}};
  }
  const double score = facts.at(measure).get<double>();
  return {is_maximized(measure) ? -score : score, has_ended, std::move(facts)};
}

}  // namespace podere::jobs
