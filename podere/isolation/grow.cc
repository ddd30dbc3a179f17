#include "podere/isolation/grow.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "podere/base/hash.h"
#include "podere/base/portable_math.h"
#include "podere/isolation/streams.h"

namespace podere::isolation {
namespace {

constexpr double kEuler = 0.57721566490153286;

class Grower {
 public:
  Grower(const Samples& samples, std::vector<std::uint32_t> places, const table::Schema& schema, RandomSequence random)
      : samples_(samples),
        schema_(schema),
        random_(random),
        rows_(std::move(places)),
        features_(samples.n_features),
        max_depth_(static_cast<int>(std::bit_width(rows_.size() - 1))) {
    std::iota(features_.begin(), features_.end(), std::size_t{0});
  }

  tree::Tree grow() {
    std::vector<Open> open = {{0, 0, 0, rows_.size()}};
    tree_.nodes.emplace_back();
    while (!open.empty()) {
      const Open at = open.back();
      open.pop_back();
      const std::size_t n = at.end - at.begin;
      tree_.nodes[at.node].cover = static_cast<float>(n);
      if (at.depth == max_depth_ || n < 2 || !split(at)) {
        tree_.nodes[at.node].value = static_cast<float>(at.depth + mean_path_length(n));
        continue;
      }
      const std::size_t middle = partition(at);
      const std::size_t left = tree_.nodes.size();
      tree_.nodes[at.node].left = static_cast<std::int32_t>(left);
      tree_.nodes.resize(left + 2);
      open.push_back({left + 1, at.depth + 1, middle, at.end});
      open.push_back({left, at.depth + 1, at.begin, middle});
    }
    return std::move(tree_);
  }

 private:
  /// A node that is not grown yet, with the rows [begin, end) of `rows_`.
  struct Open {
    std::size_t node;
    int depth;
    std::size_t begin;
    std::size_t end;
  };

  /// Whether there is a feature to split by. Features are drawn, each at most once, until one varies.
  bool split(const Open& at) {
    for (std::size_t n_left = features_.size(); n_left > 0; --n_left) {
      const auto drawn = static_cast<std::size_t>(random_.uniform() * static_cast<double>(n_left));
      std::swap(features_[drawn], features_[n_left - 1]);
      const std::size_t feature = features_[n_left - 1];
      if (!(schema_.is_categorical(feature) ? split_categories(at, feature) : split_numbers(at, feature))) continue;
      tree_.nodes[at.node].feature = static_cast<std::int32_t>(feature);
      tree_.nodes[at.node].missing_left = draws_left();
      return true;
    }
    return false;
  }

  bool split_numbers(const Open& at, std::size_t feature) {
    constexpr float kLargest = std::numeric_limits<float>::max();
    float least = kLargest;
    float largest = -kLargest;
    for (std::size_t i = at.begin; i < at.end; ++i) {
      const float value = samples_.value(rows_[i], feature);
      if (value != value) continue;
      least = std::min(least, std::max(value, -kLargest));
      largest = std::max(largest, std::min(value, kLargest));
    }
    if (!(least < largest)) return false;
    const double width = double{largest} - double{least};
    const auto threshold = static_cast<float>(double{largest} - random_.uniform() * width);
    tree_.nodes[at.node].threshold = threshold > least ? threshold : std::nextafter(least, largest);
    return true;
  }

  bool split_categories(const Open& at, std::size_t feature) {
    std::vector<std::int32_t> codes;
    for (std::size_t i = at.begin; i < at.end; ++i) {
      const float value = samples_.value(rows_[i], feature);
      if (value == value) codes.push_back(static_cast<std::int32_t>(value));
    }
    std::ranges::sort(codes);
    codes.erase(std::unique(codes.begin(), codes.end()), codes.end());
    if (codes.size() < 2) return false;
    std::vector<std::int32_t> right;
    while (right.empty() || right.size() == codes.size()) {
      right.clear();
      std::ranges::copy_if(codes, std::back_inserter(right), [&](std::int32_t) { return !draws_left(); });
    }
    tree_.nodes[at.node].category_set = static_cast<std::int32_t>(tree_.category_sets.size());
    tree_.category_sets.push_back(std::move(right));
    return true;
  }

  bool draws_left() { return random_.next() >> 63 != 0; }

  /// Where those of the node's rows that go right begin.
  std::size_t partition(const Open& at) {
    const tree::Node& node = tree_.nodes[at.node];
    const auto row = [&](std::size_t i) { return rows_.begin() + static_cast<std::ptrdiff_t>(i); };
    const auto middle = std::partition(row(at.begin), row(at.end), [&](std::uint32_t place) {
      return goes_left(tree_, node, samples_.value(place, static_cast<std::size_t>(node.feature)));
    });
    return static_cast<std::size_t>(middle - rows_.begin());
  }

  const Samples& samples_;
  const table::Schema& schema_;
  RandomSequence random_;
  std::vector<std::uint32_t> rows_;    // places, those of a node side by side
  std::vector<std::size_t> features_;  // all, in the order in which they were drawn last
  int max_depth_;
  tree::Tree tree_;
};

}  // namespace

double mean_path_length(std::uint64_t n) {
  if (n < 2) return 0;
  if (n == 2) return 1;
  const auto m = static_cast<double>(n - 1);
  return 2 * (portable_log(m) + kEuler) - 2 * m / static_cast<double>(n);
}

tree::Tree grow(const Samples& samples, std::size_t tree, const table::Schema& schema, std::uint64_t seed,
                std::size_t number) {
  return Grower(samples, samples.places[tree], schema, RandomSequence(seed, kSplitStream, number)).grow();
}

}  // namespace podere::isolation
