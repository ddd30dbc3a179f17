#include "podere/base/error.h"
#include "podere/base/hash.h"
#include "podere/tune/searches.h"
#include "podere/tune/sobol_sequence.h"

namespace podere::tune {
namespace {

constexpr std::uint64_t kShiftStream = 0x736f626f;  // "sobo"

class SobolSearch : public Search {
 public:
  SobolSearch(const Space& space, std::uint64_t seed) : space_(space), sequence_(space.n_dimensions()), seed_(seed) {}

  /// A digital shift: the same bits of a coordinate are flipped at all points, which keeps their evenness.
  Json suggest(std::size_t trial, const std::vector<Observation>&) const override {
    const std::vector<std::uint64_t> bits = sequence_.point(trial);
    std::vector<double> point(bits.size());
    for (std::size_t d = 0; d < bits.size(); ++d) point[d] = uniform01(bits[d] ^ hash64(seed_, kShiftStream, d));
    return space_.setting_at(point);
  }

 private:
  Space space_;
  SobolSequence sequence_;
  std::uint64_t seed_;
};

}  // namespace

std::unique_ptr<Search> sobol_search(const Space& space, std::uint64_t seed) {
  if (space.n_dimensions() > SobolSequence::kMostDimensions) {
    throw_input_error("sobol has {} dimensions, and {} parameters of the space are not fixed; choose random or tpe",
                      SobolSequence::kMostDimensions, space.n_dimensions());
  }
  return std::make_unique<SobolSearch>(space, seed);
}

}  // namespace podere::tune
