#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <tuple>

#include "podere/base/hash.h"
#include "podere/tune/domain.h"
#include "podere/tune/parzen.h"
#include "podere/tune/searches.h"

namespace podere::tune {
namespace {

constexpr std::uint64_t kCandidateStream = 0x74706500;  // "tpe" and the number of the candidate
constexpr std::size_t kRandomTrials = 10;
constexpr std::size_t kCandidates = 24;
constexpr std::size_t kMostGood = 25;

bool has_failed(const Observation& observation) { return std::isnan(observation.loss); }

/// Whether a is better than b.
bool is_better(const Observation* a, const Observation* b) {
  const auto rank = [](const Observation& o) {
    return std::tuple(has_failed(o), std::numeric_limits<std::size_t>::max() - o.budget, has_failed(o) ? 0 : o.loss,
                      o.trial);
  };
  return rank(*a) < rank(*b);
}

class TpeSearch : public Search {
 public:
  TpeSearch(const Space& space, std::uint64_t seed)
      : space_(space), dimensions_(dimensions_of(space_)), random_(random_search(space, seed)), seed_(seed) {}

  Json suggest(std::size_t trial, const std::vector<Observation>& seen) const override {
    const auto n_measured = static_cast<std::size_t>(std::ranges::count_if(seen, std::not_fn(has_failed)));
    if (n_measured < kRandomTrials) return random_->suggest(trial, {});
    std::vector<const Observation*> ranked;
    for (const Observation& observation : seen) ranked.push_back(&observation);
    std::ranges::sort(ranked, is_better);
    const std::size_t n_good = std::min((n_measured + 9) / 10, kMostGood);  // a tenth, rounded up
    const auto split = std::span(ranked);
    return best_candidate(trial, density(split.first(n_good)), density(split.subspan(n_good)));
  }

 private:
  Parzen density(std::span<const Observation*> observations) const {
    std::ranges::sort(observations, {}, &Observation::trial);
    std::vector<std::vector<double>> places;
    for (const Observation* observation : observations) places.push_back(places_in(space_, observation->setting));
    return {dimensions_, places};
  }

  Json setting_at_places(const std::vector<double>& places) const {
    return setting_of(space_, [&](const Parameter& parameter, std::size_t dimension) {
      return value_at_place(parameter, places[dimension]);
    });
  }

  Json best_candidate(std::size_t trial, Parzen good, Parzen bad) const {
    double best = -std::numeric_limits<double>::infinity();
    Json setting;
    for (std::size_t i = 0; i < kCandidates; ++i) {
      RandomSequence random(seed_, kCandidateStream + i, trial);
      Json candidate = setting_at_places(good.sample(random));
      const std::vector<double> places = places_in(space_, candidate);  // NaN where it is not there
      const double gain = good.log_density(places) - bad.log_density(places);
      if (i > 0 && !(gain > best)) continue;
      best = gain;
      setting = std::move(candidate);
    }
    return setting;
  }

  Space space_;
  std::vector<Dimension> dimensions_;
  std::unique_ptr<Search> random_;
  std::uint64_t seed_;
};

}  // namespace

std::unique_ptr<Search> tpe_search(const Space& space, std::uint64_t seed) {
  return std::make_unique<TpeSearch>(space, seed);
}

}  // namespace podere::tune
