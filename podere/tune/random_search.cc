#include "podere/base/hash.h"
#include "podere/tune/searches.h"

namespace podere::tune {
namespace {

constexpr std::uint64_t kPointStream = 0x72616e64;  // "rand"

class RandomSearch : public Search {
 public:
  RandomSearch(const Space& space, std::uint64_t seed) : space_(space), seed_(seed) {}

  Json suggest(std::size_t trial, const std::vector<Observation>&) const override {
    return space_.setting_at(random_point(seed_, trial, space_.n_dimensions()));
  }

 private:
  Space space_;
  std::uint64_t seed_;
};

}  // namespace

std::vector<double> random_point(std::uint64_t seed, std::size_t trial, std::size_t n_dimensions) {
  RandomSequence numbers(seed, kPointStream, trial);
  std::vector<double> point(n_dimensions);
  for (double& coordinate : point) coordinate = numbers.uniform();
  return point;
}

std::unique_ptr<Search> random_search(const Space& space, std::uint64_t seed) {
  return std::make_unique<RandomSearch>(space, seed);
}

}  // namespace podere::tune
