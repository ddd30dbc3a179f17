#include "podere/jobs/trials.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "podere/base/error.h"
#include "podere/jobs/cross_validation.h"
#include "podere/jobs/measures.h"
#include "podere/table/keep_rows.h"

namespace podere::jobs {
namespace {

/// What of a part's facts is no measure.
constexpr const char* kOtherFacts[] = {"rows", "trees", "epochs", kParameters};

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
  std::vector<Json> facts;
  bool has_ended = true;
  for (const PausedTrial::Part& part : trial.parts) {
    facts.push_back(part.facts);
    has_ended = has_ended && part.checkpoint.empty();
  }
  tune::StepResult result = result_of(facts);
  result.ended = result.ended || has_ended;
  return result;
}

/// `checkpoint` is where it begins, then where it paused; empty: nowhere. Nullopt: it was stopped.
std::optional<algorithm::Trained> Trials::train(const tune::Step& step, const algorithm::Trainer& trainer,
                                                std::size_t part, std::string& checkpoint,
                                                const StepContext& context) const {
  const comm::Communicator& comm = context.comm;
  std::unique_ptr<const algorithm::Checkpoint> so_far;
  comm.agree([&] {
    if (!checkpoint.empty()) so_far = trainer.read_checkpoint(checkpoint, "a paused trial");
  });
  checkpoint.clear();
  algorithm::Summaries no_summaries;
  algorithm::Run run{.comm = comm,
                     .n_threads = context.n_threads,
                     .progress = context.progress,
                     .checkpoint = so_far.get(),
                     .summaries = no_summaries,
                     .pause_after = step.budget,
                     .shared = &shared_};
  run.offer = [&](const std::function<std::string()>& make_text, bool is_wanted) {
    if (is_wanted) checkpoint = make_text();
  };
  if (rows_.validation == nullptr) run.is_training = rows_.is_training[part];
  algorithm::Trained trained = trainer.train(table::HeldRows(*rows_.table), rows_.validation, run);
  const bool was_stopped = trained.facts.value("was_stopped", false);
  if (comm.all_reduce(was_stopped ? 1 : 0, comm::Reduction::kMax) != 0) return std::nullopt;
  return trained;
}

/// False: it was stopped.
bool Trials::train_part(const tune::Step& step, const algorithm::Trainer& trainer, std::size_t part,
                        PausedTrial::Part& paused, const StepContext& context) const {
  const auto trained = train(step, trainer, part, paused.checkpoint, context);
  if (!trained) return false;
  const table::Table& measured = rows_.validation == nullptr ? *rows_.table : *rows_.validation;
  const std::vector<std::uint8_t> none(rows_.validation == nullptr ? 0 : measured.n_rows());
  paused.facts =
      measure_held_out(*trained->model, measured, rows_.validation == nullptr ? rows_.is_training[part] : none,
                       context.comm, context.n_threads);
  paused.facts[kParameters] = trained->model->n_parameters();
  for (const char* length : {"trees", "epochs"}) {
    if (trained->facts.contains(length)) paused.facts[length] = trained->facts.at(length);
  }
  return true;
}

std::unique_ptr<const algorithm::Model> Trials::train_on_all(const Json& options, const StepContext& context) const {
  algorithm::Summaries no_summaries;
  algorithm::Trained trained = algorithm_.trainer(options)->train(table::HeldRows(*rows_.table), nullptr,
                                                                  {.comm = context.comm,
                                                                   .n_threads = context.n_threads,
                                                                   .progress = context.progress,
                                                                   .summaries = no_summaries,
                                                                   .shared = &shared_});
  if (trained.facts.value("was_stopped", false)) return nullptr;
  return std::move(trained.model);
}

tune::StepResult Trials::result_of(const std::vector<Json>& facts_of_parts) const {
  Json facts = mean_facts(facts_of_parts);
  const std::string measure = score_.empty() ? default_score(facts) : score_;
  check_score(measure, facts);
  if (facts.at(measure).is_null()) {
    return {std::numeric_limits<double>::quiet_NaN(),
            true,
            {{"error", measure + " is not defined on the rows that were held out, or not finite"}}};
  }
  const double score = facts.at(measure).get<double>();
  if (rows_.n_folds > 0) {
    std::vector<double> scores;
    for (const Json& of_part : facts_of_parts) scores.push_back(of_part.at(measure).get<double>());
    facts[kStandardError] = standard_error(scores, rows_.n_folds);
  }
  return {is_maximized(measure) ? -score : score, false, std::move(facts)};
}

HeldOutRows Trials::held_out_rows(const StepContext& context) const {
  HeldOutRows rows;
  if (rows_.validation != nullptr) return rows;
  for (const std::vector<std::uint8_t>& is_training : rows_.is_training) {
    std::vector<std::uint8_t> is_held_out(is_training.size());
    std::ranges::transform(is_training, is_held_out.begin(), [](std::uint8_t trained) { return trained == 0 ? 1 : 0; });
    rows.push_back(table::keep_rows(*rows_.table, is_held_out, context.comm, context.n_threads));
  }
  return rows;
}

std::optional<Margins> Trials::margins(const tune::Step& step, const HeldOutRows& rows,
                                       const StepContext& context) const {
  const auto trainer = algorithm_.trainer(options_of(step.setting));
  Margins margins;
  for (std::size_t part = 0; part < rows_.is_training.size(); ++part) {
    std::string checkpoint;
    auto trained = train(step, *trainer, part, checkpoint, context);
    if (!trained) return std::nullopt;
    margins.model = std::move(trained->model);
    context.comm.agree(
        [&] { margins.of_parts.push_back(margins.model->margins(measured_rows(part, rows), context.n_threads)); });
  }
  return margins;
}

double Trials::loss(const std::vector<std::vector<float>>& margins, const HeldOutRows& rows,
                    const algorithm::Model& model, const StepContext& context) const {
  std::vector<Json> facts;
  for (std::size_t part = 0; part < margins.size(); ++part) {
    std::vector<float> predictions;
    context.comm.agree([&] { predictions = model.predictions(margins[part], context.n_threads); });
    facts.push_back(measure_rows(model, measured_rows(part, rows), predictions, context.comm));
  }
  return result_of(facts).loss;
}

}  // namespace podere::jobs
