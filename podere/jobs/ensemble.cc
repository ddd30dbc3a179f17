#include "podere/jobs/ensemble.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "podere/base/error.h"

namespace podere::jobs {
namespace {

/// The best trials of a study, in front, ties by number.
std::vector<std::size_t> best_trials(const tune::Study& study, std::size_t n) {
  std::vector<std::size_t> best;
  for (std::size_t i = 0; i < study.trials().size(); ++i) {
    if (std::isfinite(study.trials()[i].loss())) best.push_back(i);
  }
  std::ranges::stable_sort(best, {}, [&](std::size_t i) { return study.trials()[i].loss(); });
  best.resize(std::min(best.size(), n));
  return best;
}

/// Sums of margins, as of many trials: [parts][values].
using Sums = std::vector<std::vector<double>>;

void add(Sums& sums, const Margins& margins) {
  for (std::size_t part = 0; part < margins.of_parts.size(); ++part) {
    for (std::size_t i = 0; i < margins.of_parts[part].size(); ++i) sums[part][i] += margins.of_parts[part][i];
  }
}

/// Means of `n` margins.
std::vector<std::vector<float>> means(const Sums& sums, std::size_t n) {
  std::vector<std::vector<float>> means;
  for (const std::vector<double>& part : sums) {
    std::vector<float>& mean = means.emplace_back(part.size());
    std::ranges::transform(part, mean.begin(),
                           [&](double sum) { return static_cast<float>(sum / static_cast<double>(n)); });
  }
  return means;
}

}  // namespace

std::optional<Ensemble> select_ensemble(const tune::Study& study, std::size_t n_picks, const Trials& trials,
                                        const StepContext& context) {
  const std::vector<std::size_t> candidates = best_trials(study, 2 * n_picks);
  const HeldOutRows rows = trials.held_out_rows(context);
  std::vector<Margins> margins;
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    context.progress.report({"blend", c, candidates.size(), {}, "trial"});
    auto of_trial = trials.margins(study.trials()[candidates[c]].best().first, rows, context);
    if (!of_trial) return std::nullopt;
    margins.push_back(*std::move(of_trial));
  }
  for (const Margins& of_trial : margins) {
    const algorithm::Model& model = *of_trial.model;
    const algorithm::Model& first = *margins.front().model;
    if (model.objective() == first.objective() && model.n_outputs() == first.n_outputs()) continue;
    throw_input_error("trials that minimize {} and others {} cannot be blended: choose one, or leave out ensemble",
                      first.objective(), model.objective());
  }
  Sums sums;
  for (const std::vector<float>& part : margins.front().of_parts) sums.emplace_back(part.size());
  std::vector<std::size_t> picks;
  std::size_t n_best = 0;
  double best_loss = std::numeric_limits<double>::infinity();
  for (std::size_t n = 1; n <= n_picks; ++n) {
    context.progress.report({"pick", n - 1, n_picks, {}, "trial"});
    std::size_t pick = 0;
    double loss_with_pick = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      Sums with = sums;
      add(with, margins[c]);
      const double loss = trials.loss(means(with, n), rows, *margins[c].model, context);
      if (loss < loss_with_pick) {
        loss_with_pick = loss;
        pick = c;
      }
    }
    add(sums, margins[pick]);
    picks.push_back(candidates[pick]);
    if (loss_with_pick < best_loss) {
      best_loss = loss_with_pick;
      n_best = n;
    }
  }
  std::map<std::size_t, double> weights;
  for (std::size_t n = 0; n < n_best; ++n) weights[picks[n]] += 1.0 / static_cast<double>(n_best);
  Ensemble ensemble;
  for (const auto& [trial, weight] : weights) ensemble.members.push_back({trial, weight});
  ensemble.loss = best_loss;
  return ensemble;
}

}  // namespace podere::jobs
