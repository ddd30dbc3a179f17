#include "podere/linalg/product_sums.h"

#include <span>
#include <vector>

namespace podere::linalg {

/// Executors may lay out their sums in other ways: what they exchange is by rows, of a gram matrix the upper triangle.
Eigen::MatrixXd ProductSums::total(const comm::Communicator& comm) const {
  const std::size_t size = n_a_ * n_b_;
  std::vector<double> high_low(2 * size);
  double* const high = high_low.data();
  double* const low = high + size;
  take_sums(sums_.span(), n_a_, n_b_, is_gram_, high, low);
  std::vector<double> sent;
  const auto for_each_sent = [&](auto&& use) {
    for (std::size_t i = 0; i < n_a_; ++i) {
      for (std::size_t j = is_gram_ ? i : 0; j < n_b_; ++j) use(i, j);
    }
  };
  sent.reserve(2 * size);
  for_each_sent([&](std::size_t i, std::size_t j) {
    sent.push_back(high[i * n_b_ + j]);
    sent.push_back(low[i * n_b_ + j]);
  });
  comm.all_reduce(std::span(sent), comm::Reduction::kSum);
  Eigen::MatrixXd result(static_cast<Eigen::Index>(n_a_), static_cast<Eigen::Index>(n_b_));
  const double* from = sent.data();
  for_each_sent([&](std::size_t i, std::size_t j) {
    const double value = from[0] + from[1];
    from += 2;
    result(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = value;
    if (is_gram_) result(static_cast<Eigen::Index>(j), static_cast<Eigen::Index>(i)) = value;
  });
  return result;
}

}  // namespace podere::linalg
