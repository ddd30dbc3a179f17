#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "podere/base/error.h"
#include "podere/evaluate/classification.h"
#include "podere/evaluate/rows.h"
#include "podere/evaluate/sample_sort.h"

namespace podere::evaluate {
namespace {

using Int128 = __int128;

/// An unsigned number that falls as `score` rises. IEEE numbers of one sign are ordered as their bits are.
std::uint32_t descending_key(float score) {
  const auto bits = std::bit_cast<std::uint32_t>(score + 0.0F);  // -0 becomes +0
  return (bits >> 31) != 0 ? bits : ~bits & 0x7fffffff;
}
float score_of(std::uint32_t key) { return std::bit_cast<float>((key >> 31) != 0 ? key : ~key & 0x7fffffff); }

/// Rows of class 0 and of class 1.
struct Tally {
  std::array<std::int64_t, 2> weight{};  // in units
  std::array<std::int64_t, 2> rows{};
  void add(const Tally& other) {
    for (std::size_t k = 0; k < 2; ++k) {
      weight[k] += other.weight[k];
      rows[k] += other.rows[k];
    }
  }
};

/// The rows of this rank by class, sorted by descending score over all ranks; a record's lower half is the weight.
using SortedRows = std::array<std::vector<Record>, 2>;

SortedRows sorted_rows(const comm::Communicator& comm, std::span<const float> scores, std::span<const float> labels,
                       std::span<const float> weights) {
  SortedRows rows;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const auto weight = std::bit_cast<std::uint32_t>(weight_of(weights, i));
    rows[labels[i] == 1].push_back(Record{descending_key(scores[i])} << 32 | weight);
  }
  sample_sort(comm, rows);
  return rows;
}

/// Calls visit(key, tally of the rows with this key) for every distinct score, in descending order.
template <typename Visit>
void for_each_score(const SortedRows& rows, const WeightUnit& unit, const Visit& visit) {
  std::array<std::size_t, 2> next{};
  while (next[0] < rows[0].size() || next[1] < rows[1].size()) {
    std::uint32_t key = std::numeric_limits<std::uint32_t>::max();
    for (std::size_t k = 0; k < 2; ++k) {
      if (next[k] < rows[k].size()) key = std::min(key, key_of(rows[k][next[k]]));
    }
    Tally tally;
    for (std::size_t k = 0; k < 2; ++k) {
      for (; next[k] < rows[k].size() && key_of(rows[k][next[k]]) == key; ++next[k]) {
        tally.weight[k] += unit.units(std::bit_cast<float>(static_cast<std::uint32_t>(rows[k][next[k]])));
        ++tally.rows[k];
      }
    }
    visit(key, tally);
  }
}

Tally sum_over_ranks(const comm::Communicator& comm, Tally tally) {
  comm.all_reduce(std::span<std::int64_t>(tally.weight), comm::Reduction::kSum);
  comm.all_reduce(std::span<std::int64_t>(tally.rows), comm::Reduction::kSum);
  return tally;
}

Tally sum_of_ranks_below(const comm::Communicator& comm, const Tally& tally) {
  Tally below;
  for (std::size_t k = 0; k < 2; ++k) {
    below.weight[k] = comm.exclusive_scan(tally.weight[k], comm::Reduction::kSum, std::int64_t{0});
    below.rows[k] = comm.exclusive_scan(tally.rows[k], comm::Reduction::kSum, std::int64_t{0});
  }
  return below;
}

/// The sum over ranks, in digits of 32 bits that leave room for carries.
Int128 sum_over_ranks(const comm::Communicator& comm, Int128 value) {
  std::array<std::int64_t, 3> digits = {static_cast<std::int64_t>(value & 0xffffffff),
                                        static_cast<std::int64_t>(value >> 32 & 0xffffffff),
                                        static_cast<std::int64_t>(value >> 64)};
  comm.all_reduce(std::span<std::int64_t>(digits), comm::Reduction::kSum);
  return digits[0] + (Int128{digits[1]} << 32) + (Int128{digits[2]} << 64);
}

/// Takes points off a curve so that at most n_points are left, evenly along the curve as drawn without weights: of
/// its n_points - 1 pieces of equal length (up plus right) the first point in each is kept, and the origin.
class Thinning {
 public:
  Thinning(const Tally& all, std::size_t n_points)
      : all_(all), n_pieces_(n_points - 1), length_(2 * Int128{all.rows[0]} * all.rows[1]) {}

  /// Whether the point after `now`, which follows the point after `before`, is kept.
  bool keeps(const Tally& before, const Tally& now) {
    if (next_piece_ == 0) next_piece_ = position(before) * n_pieces_ / length_ + 1;
    const Int128 at = position(now) * n_pieces_;
    if (at < next_piece_ * length_) return false;
    next_piece_ = at / length_ + 1;
    return true;
  }

 private:
  // The share of class 0 plus the share of class 1, times n0 * n1.
  Int128 position(const Tally& tally) const {
    return Int128{tally.rows[0]} * all_.rows[1] + Int128{tally.rows[1]} * all_.rows[0];
  }

  Tally all_;
  Int128 n_pieces_;
  Int128 length_;
  Int128 next_piece_ = 0;
};

/// With rows in descending order of score, and w the sum of weights of a class at one score or above it,
///   auc = sum over scores s of w0(s) (w1(above s) + w1(s) / 2) / (w0 w1)
/// in integers: sums of weights are below 2^62, so that twice the numerator is below 2^126.
Roc exact_roc(const comm::Communicator& comm, std::span<const float> scores, std::span<const float> labels,
              std::span<const float> weights, std::size_t max_points) {
  comm.agree([&] {
    check_rows(scores.size(), labels, weights);
    check_classes(labels, 2);
    for (const float score : scores) {
      if (std::isnan(score)) throw_input_error("a score is NaN: scores must be numbers");
    }
  });
  const WeightUnit unit(comm, labels.size(), weights);
  const SortedRows rows = sorted_rows(comm, scores, labels, weights);

  Tally here;
  std::uint64_t n_scores = 0;
  for_each_score(rows, unit, [&](std::uint32_t, const Tally& tally) {
    here.add(tally);
    ++n_scores;
  });
  const Tally all = sum_over_ranks(comm, here);
  n_scores = comm.all_reduce(n_scores, comm::Reduction::kSum);
  Tally before = sum_of_ranks_below(comm, here);

  Roc roc;
  if (all.weight[0] == 0 || all.weight[1] == 0) {
    roc.auc = std::numeric_limits<double>::quiet_NaN();
    return roc;
  }
  const bool keeps_all = n_scores < max_points;
  Thinning thinning(all, max_points);
  Int128 twice_area = 0;
  std::vector<double> points;
  if (comm.is_root()) points = {std::numeric_limits<double>::infinity(), 0, 0};
  for_each_score(rows, unit, [&](std::uint32_t key, const Tally& tally) {
    twice_area += Int128{tally.weight[0]} * (2 * before.weight[1] + tally.weight[1]);
    Tally now = before;
    now.add(tally);
    if (max_points > 0 && (keeps_all || thinning.keeps(before, now))) {
      points.push_back(score_of(key));
      for (std::size_t k = 0; k < 2; ++k) {
        points.push_back(static_cast<double>(now.weight[k]) / static_cast<double>(all.weight[k]));
      }
    }
    before = now;
  });
  twice_area = sum_over_ranks(comm, twice_area);
  roc.auc = static_cast<double>(twice_area) / static_cast<double>(2 * Int128{all.weight[0]} * all.weight[1]);
  if (max_points == 0) return roc;
  points = comm.all_gather_v(std::span<const double>(points));
  for (std::size_t i = 0; i < points.size(); i += 3) roc.points.push_back({points[i], points[i + 1], points[i + 2]});
  return roc;
}

}  // namespace

Roc roc(const comm::Communicator& comm, std::span<const float> scores, std::span<const float> labels,
        std::span<const float> weights, std::size_t max_points) {
  if (max_points < 2) throw_input_error("a curve of {} points was asked for: the least is 2", max_points);
  return exact_roc(comm, scores, labels, weights, max_points);
}

double auc(const comm::Communicator& comm, std::span<const float> scores, std::span<const float> labels,
           std::span<const float> weights) {
  return exact_roc(comm, scores, labels, weights, 0).auc;
}

}  // namespace podere::evaluate
