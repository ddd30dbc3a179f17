#include "podere/table/value_folds.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <span>
#include <string>

#include "podere/base/error.h"
#include "podere/base/hash.h"
#include "podere/base/printable.h"

namespace podere::table {
namespace {

/// Rises with the value. -0 is 0.
std::uint32_t place_of_value(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value + 0.0F);
  return bits >> 31 != 0 ? ~bits : bits | 0x80000000U;
}

/// How many rows of a class have a value. The key is the place of the value, then the class.
struct ValueCount {
  std::uint64_t key;
  std::uint64_t n;
  std::uint32_t value() const { return static_cast<std::uint32_t>(key >> 32); }
};

/// Equal keys of a rising sequence, as one.
std::vector<ValueCount> merged(const std::vector<ValueCount>& sorted) {
  std::vector<ValueCount> counts;
  for (const ValueCount& count : sorted) {
    if (!counts.empty() && counts.back().key == count.key) {
      counts.back().n += count.n;
    } else {
      counts.push_back(count);
    }
  }
  return counts;
}

std::vector<ValueCount> counts_of_keys(std::vector<std::uint64_t> keys) {
  std::ranges::sort(keys);
  std::vector<ValueCount> counts;
  for (auto key = keys.begin(); key != keys.end();) {
    const auto end = std::upper_bound(key, keys.end(), *key);
    counts.push_back({*key, static_cast<std::uint64_t>(end - key)});
    key = end;
  }
  return counts;
}

/// Of all ranks, on all ranks, by rising key.
std::vector<ValueCount> gathered(const std::vector<ValueCount>& here, const comm::Communicator& comm) {
  std::vector<std::uint64_t> keys;
  std::vector<std::uint64_t> ns;
  for (const ValueCount& count : here) {
    keys.push_back(count.key);
    ns.push_back(count.n);
  }
  keys = comm.all_gather_v<std::uint64_t>(keys);
  ns = comm.all_gather_v<std::uint64_t>(ns);
  std::vector<ValueCount> counts;
  for (std::size_t i = 0; i < keys.size(); ++i) counts.push_back({keys[i], ns[i]});
  std::ranges::sort(counts, {}, &ValueCount::key);
  return merged(counts);
}

/// The different values of a whole column, rising, with how many rows of each class have them.
class ColumnValues {
 public:
  ColumnValues(const Table& column, const Table& table, const FoldOptions& options, const comm::Communicator& comm)
      : name_(printable(column.schema().features.at(0))), schema_(table.schema()) {
    const auto& values = column.feature(0);
    std::vector<std::uint64_t> keys;
    std::uint64_t n_missing = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      n_missing += std::isnan(values[i]) ? 1 : 0;
      of_rows_.push_back(place_of_value(values[i]));
      keys.push_back(std::uint64_t{of_rows_.back()} << 32 | class_of_row(table, i, options.by_class));
    }
    n_missing = comm.all_reduce(n_missing, comm::Reduction::kSum);
    if (n_missing > 0) {
      throw_input_error("the column {} says which rows are held out, and is missing in {} of {} rows", name_, n_missing,
                        table.n_global_rows());
    }
    counts_ = gathered(counts_of_keys(std::move(keys)), comm);
    number();
  }

  const std::string& name() const { return name_; }
  std::size_t size() const { return places_.size(); }
  std::size_t n_classes() const { return classes_.size(); }
  std::uint64_t n_rows() const { return n_rows_; }
  std::uint64_t n_rows_of(std::size_t v) const {
    std::uint64_t n = 0;
    for (const ValueCount& count : of_value(v)) n += count.n;
    return n;
  }
  std::uint32_t place(std::size_t v) const { return places_[v]; }
  /// Of each class that has any: their keys are class_at() below.
  std::span<const ValueCount> of_value(std::size_t v) const {
    return std::span(counts_).subspan(begins_[v], begins_[v + 1] - begins_[v]);
  }
  /// Among those that there are, 0 .. n_classes() - 1.
  std::size_t class_at(const ValueCount& count) const {
    const auto found = std::ranges::lower_bound(classes_, static_cast<std::uint32_t>(count.key));
    return static_cast<std::size_t>(found - classes_.begin());
  }
  std::string class_name(std::size_t k) const { return name_of_class(schema_, classes_[k]); }

  /// What `of_values` [size()] says, of each row here.
  ValueFolds spread(const std::vector<std::uint8_t>& of_values) const {
    ValueFolds folds{{}, size()};
    for (const std::uint32_t place : of_rows_) {
      const auto found = std::ranges::lower_bound(places_, place);
      folds.of_rows.push_back(of_values[static_cast<std::size_t>(found - places_.begin())]);
    }
    return folds;
  }

 private:
  void number() {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      n_rows_ += counts_[i].n;
      classes_.push_back(static_cast<std::uint32_t>(counts_[i].key));
      if (!places_.empty() && places_.back() == counts_[i].value()) continue;
      places_.push_back(counts_[i].value());
      begins_.push_back(i);
    }
    begins_.push_back(counts_.size());
    std::ranges::sort(classes_);
    classes_.erase(std::unique(classes_.begin(), classes_.end()), classes_.end());
  }

  std::string name_;
  const Schema& schema_;
  std::vector<std::uint32_t> of_rows_;  // place of the value [n_rows]
  std::vector<ValueCount> counts_;      // by value, then class
  std::vector<std::uint32_t> places_;   // of the values [size()]
  std::vector<std::size_t> begins_;     // of the values in counts_ [size() + 1]
  std::vector<std::uint32_t> classes_;  // rising
  std::uint64_t n_rows_ = 0;
};

/// How many rows of each class are in each fold, while groups are dealt.
class FoldRows {
 public:
  FoldRows(const ColumnValues& groups, int n_folds)
      : groups_(groups),
        n_rows_(static_cast<std::size_t>(n_folds)),
        of_class_(n_rows_.size() * groups.n_classes()),
        all_(groups.n_classes()) {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (const ValueCount& count : groups.of_value(g)) all_[groups.class_at(count)] += static_cast<double>(count.n);
    }
  }

  /// Adds a group to the fold where it belongs.
  std::uint8_t add(std::size_t group) {
    std::size_t best = 0;
    double least = 0;
    for (std::size_t fold = 0; fold < n_rows_.size(); ++fold) {
      const double excess = excess_of(group, fold);
      if (fold > 0 && (excess > least || (excess == least && n_rows_[fold] >= n_rows_[best]))) continue;
      best = fold;
      least = excess;
    }
    n_rows_[best] += groups_.n_rows_of(group);
    for (const ValueCount& count : groups_.of_value(group)) at(best, groups_.class_at(count)) += count.n;
    return static_cast<std::uint8_t>(best);
  }

  /// A class that is in one fold alone; n_classes() if there is none.
  std::size_t class_of_one_fold() const {
    for (std::size_t k = 0; k < all_.size(); ++k) {
      std::size_t n_with = 0;
      for (std::size_t fold = 0; fold < n_rows_.size(); ++fold) n_with += of_class_[fold * all_.size() + k] > 0 ? 1 : 0;
      if (n_with == 1) return k;
    }
    return all_.size();
  }

 private:
  std::uint64_t& at(std::size_t fold, std::size_t k) { return of_class_[fold * all_.size() + k]; }

  double excess_of(std::size_t group, std::size_t fold) const {
    double sum = 0;
    for (const ValueCount& count : groups_.of_value(group)) {
      const std::size_t k = groups_.class_at(count);
      const auto there = static_cast<double>(of_class_[fold * all_.size() + k]);
      sum += there / all_[k] * (static_cast<double>(count.n) / all_[k]);
    }
    return sum;
  }

  const ColumnValues& groups_;
  std::vector<std::uint64_t> n_rows_;    // [n_folds]
  std::vector<std::uint64_t> of_class_;  // [n_folds x n_classes]
  std::vector<double> all_;              // rows of each class in all
};

/// The largest first, in an order drawn by hash among equals.
std::vector<std::size_t> dealing_order(const ColumnValues& groups, const FoldOptions& options) {
  struct Ranked {
    std::uint64_t n;
    std::uint64_t drawn;
    std::size_t group;
  };
  std::vector<Ranked> ranked;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    ranked.push_back({groups.n_rows_of(g), hash64(options.seed, options.repeat, groups.place(g)), g});
  }
  std::ranges::sort(ranked, [](const Ranked& a, const Ranked& b) {
    if (a.n != b.n) return a.n > b.n;
    return a.drawn != b.drawn ? a.drawn < b.drawn : a.group < b.group;
  });
  std::vector<std::size_t> order;
  for (const Ranked& each : ranked) order.push_back(each.group);
  return order;
}

/// Of the values, so that runs are equally long but for ties [values.size()].
std::vector<std::uint8_t> runs_of_values(const ColumnValues& values, std::uint64_t n_runs) {
  std::vector<std::uint8_t> runs;
  std::uint64_t n_before = 0;
  for (std::size_t v = 0; v < values.size(); ++v) {
    const std::uint64_t n = values.n_rows_of(v);
    runs.push_back(static_cast<std::uint8_t>((2 * n_before + n) * n_runs / (2 * values.n_rows())));
    n_before += n;
  }
  return runs;
}

bool has_all_runs(const std::vector<std::uint8_t>& runs, std::uint64_t n_runs) {
  std::vector<bool> has(n_runs);
  for (const std::uint8_t run : runs) has[run] = true;
  return std::ranges::find(has, false) == has.end();
}

[[noreturn]] void throw_empty_run(const ColumnValues& values, std::uint64_t n_folds) {
  for (std::uint64_t fewer = n_folds - 1; fewer >= 2; --fewer) {
    if (!has_all_runs(runs_of_values(values, fewer + 1), fewer + 1)) continue;
    throw_input_error("folds is {}, but too many rows have the same {} to cut them into {} runs, {} folds can be made",
                      n_folds, values.name(), n_folds + 1, fewer);
  }
  throw_input_error("too many rows have the same {} to cut them into runs, of which folds need at least three",
                    values.name());
}

void check_first_run(const ColumnValues& values, const std::vector<std::uint8_t>& runs) {
  std::vector<bool> has(values.n_classes());
  std::uint64_t n_rows = 0;
  for (std::size_t v = 0; v < values.size() && runs[v] == 0; ++v) {
    n_rows += values.n_rows_of(v);
    for (const ValueCount& count : values.of_value(v)) has[values.class_at(count)] = true;
  }
  const auto lacking = static_cast<std::size_t>(std::ranges::find(has, false) - has.begin());
  if (lacking == has.size()) return;
  throw_input_error(
      "class {} of the label is not among the first {} rows by {}, on which the first fold is trained: fewer folds "
      "have more",
      values.class_name(lacking), n_rows, values.name());
}

}  // namespace

ValueFolds folds_of_groups(const Table& column, const Table& table, const FoldOptions& options,
                           const comm::Communicator& comm) {
  check_number_of_folds(options);
  const ColumnValues groups(column, table, options, comm);
  if (groups.size() < static_cast<std::size_t>(options.n_folds)) {
    throw_input_error("{} is {}, but the column {} has {} different values, {}", options.name, options.n_folds,
                      groups.name(), groups.size(),
                      groups.size() < 2 ? std::string("and at least two are needed")
                                        : "allowed are 2 to " + std::to_string(groups.size()) + " folds");
  }
  FoldRows rows(groups, options.n_folds);
  std::vector<std::uint8_t> of_values(groups.size());
  for (const std::size_t group : dealing_order(groups, options)) of_values[group] = rows.add(group);
  const std::size_t lone = options.by_class ? rows.class_of_one_fold() : groups.n_classes();
  if (lone < groups.n_classes()) {
    throw_input_error(
        "class {} of the label is in one fold alone, which a model would predict that never saw it: too few values of "
        "{} "
        "have it",
        groups.class_name(lone), groups.name());
  }
  return groups.spread(of_values);
}

ValueFolds runs_in_order(const Table& column, const Table& table, const FoldOptions& options,
                         const comm::Communicator& comm) {
  check_number_of_folds(options);
  if (column.schema().is_categorical(0)) {
    throw_input_error("the column {} holds categories, which have no order", printable(column.schema().features[0]));
  }
  const ColumnValues values(column, table, options, comm);
  const auto n_runs = static_cast<std::uint64_t>(options.n_folds) + 1;
  const std::vector<std::uint8_t> runs = runs_of_values(values, n_runs);
  if (!has_all_runs(runs, n_runs)) throw_empty_run(values, n_runs - 1);
  if (options.by_class) check_first_run(values, runs);
  return values.spread(runs);
}

}  // namespace podere::table
