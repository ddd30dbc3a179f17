#include "podere/table/folds.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/hash.h"

namespace podere::table {
namespace {

constexpr float kMostClasses = 1 << 20;  // what is beyond is no class, which training reports

std::vector<std::uint64_t> count_classes(const Table& table, bool by_class, const comm::Communicator& comm) {
  std::vector<std::uint64_t> counts(1);
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    const std::size_t k = class_of_row(table, i, by_class);
    if (k >= counts.size()) counts.resize(k + 1);
    ++counts[k];
  }
  counts.resize(comm.all_reduce(static_cast<std::uint64_t>(counts.size()), comm::Reduction::kMax));
  return counts;
}

void check_counts(const Schema& schema, std::span<const std::uint64_t> counts, const FoldOptions& options) {
  const auto n_folds = static_cast<std::uint64_t>(options.n_folds);
  const std::uint64_t n_rows = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  if (n_rows < n_folds) throw_input_error("{} is {}, but there are {} rows", options.name, n_folds, n_rows);
  for (std::size_t k = 0; options.by_class && k < counts.size(); ++k) {
    if (counts[k] == 0 || counts[k] >= n_folds) continue;
    const std::string name = name_of_class(schema, k);
    if (counts[k] == 1) {
      throw_input_error("class {} of the label has 1 row: folds need at least two of each class", name);
    }
    throw_input_error("{} is {}, but class {} of the label has {} rows, allowed are 2 to {} folds", options.name,
                      n_folds, name, counts[k], counts[k]);
  }
}

/// The folds of consecutive rows, one after the other.
class Dealer {
 public:
  Dealer(std::uint64_t n_before, std::uint64_t key, int n_folds)
      : n_dealt_(n_before), key_(key), order_(static_cast<std::size_t>(n_folds)) {
    if (n_dealt_ % order_.size() != 0) shuffle();
  }

  std::uint8_t next() {
    const std::size_t place = n_dealt_ % order_.size();
    if (place == 0) shuffle();
    ++n_dealt_;
    return order_[place];
  }

 private:
  void shuffle() {
    std::iota(order_.begin(), order_.end(), std::uint8_t{0});
    RandomSequence random(key_, 0, n_dealt_ / order_.size());
    for (std::size_t n = order_.size(); n > 1; --n) std::swap(order_[n - 1], order_[random.next() % n]);
  }

  std::uint64_t n_dealt_;
  std::uint64_t key_;
  std::vector<std::uint8_t> order_;
};

}  // namespace

void check_number_of_folds(const FoldOptions& options) {
  if (options.n_folds < 2 || options.n_folds > kMostFolds) {
    throw_input_error("{} is {}, allowed is 2 to {}", options.name, options.n_folds, kMostFolds);
  }
}

std::size_t class_of_row(const Table& table, std::size_t row, bool by_class) {
  if (!by_class) return 0;
  const float label = table.label()[row];
  return label >= 0 && label < kMostClasses ? static_cast<std::size_t>(label) : 0;
}

std::string name_of_class(const Schema& schema, std::size_t k) {
  return k < schema.classes.size() ? "'" + schema.classes[k] + "'" : std::to_string(k);
}

std::vector<std::uint8_t> fold_of_rows(const Table& table, const FoldOptions& options, const comm::Communicator& comm) {
  check_number_of_folds(options);
  const std::vector<std::uint64_t> here = count_classes(table, options.by_class, comm);
  const std::size_t n_classes = here.size();
  const std::vector<std::uint64_t> of_ranks = comm.all_gather(std::span<const std::uint64_t>(here));
  std::vector<std::uint64_t> before(n_classes);
  std::vector<std::uint64_t> all(n_classes);
  for (std::size_t i = 0; i < of_ranks.size(); ++i) {
    if (i / n_classes < static_cast<std::size_t>(comm.rank())) before[i % n_classes] += of_ranks[i];
    all[i % n_classes] += of_ranks[i];
  }
  check_counts(table.schema(), all, options);

  std::vector<Dealer> dealers;
  for (std::size_t k = 0; k < n_classes; ++k) {
    dealers.emplace_back(before[k], hash64(options.seed, options.repeat, k), options.n_folds);
  }
  std::vector<std::uint8_t> folds(table.n_rows());
  for (std::size_t i = 0; i < folds.size(); ++i) {
    folds[i] = dealers[class_of_row(table, i, options.by_class)].next();
  }
  return folds;
}

}  // namespace podere::table
