// Gaussian densities of rows.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <span>
#include <vector>

#include "podere/base/enum_names.h"
#include "podere/base/huge_array.h"

namespace podere::cluster {

/// What clusters may look like.
enum class Covariance {
  kFull,       ///< each an ellipsoid of its own
  kTied,       ///< all the same ellipsoid
  kDiagonal,   ///< each an ellipsoid along the axes
  kSpherical,  ///< each a ball
};
constexpr EnumNames<4> names_of(Covariance /*enumeration*/) {
  return {"covariance", {"full", "tied", "diagonal", "spherical"}};
}
/// Whether features may vary together.
inline bool has_matrices(Covariance kind) { return kind == Covariance::kFull || kind == Covariance::kTied; }

/// A weighted sum of Gaussians of `n_features` features.
struct Gaussians {
  Covariance kind = Covariance::kFull;
  std::vector<double> weights;         ///< [n], which sum to 1; 0 for one that no row belongs to
  std::vector<Eigen::VectorXd> means;  ///< [n][n_features]
  /// Of each its matrix [n_features x n_features], or the variances alone [n_features x 1] unless has_matrices(kind);
  /// the same for all of kTied.
  std::vector<Eigen::MatrixXd> covariances;

  std::size_t size() const { return weights.size(); }
  std::size_t n_features() const { return means.empty() ? 0 : static_cast<std::size_t>(means.front().size()); }
  /// Numbers that are free to choose, for criteria such as BIC.
  std::size_t n_free() const;
};

/// Rows that densities are computed of at a time.
inline constexpr std::size_t kDensityRows = 256;

/// Logarithms of the weighted densities of rows. Each is computed from its row alone, in a fixed order.
class LogDensities {
 public:
  /// Throws InputError for a covariance that is not positive definite.
  explicit LogDensities(const Gaussians& gaussians);

  /// Memory that compute() needs, of one thread.
  class Workspace {
   public:
    explicit Workspace(const LogDensities& densities);

   private:
    friend class LogDensities;
    HugeArray<double> packed_;
    HugeArray<double> products_;
  };

  /// `result` [n_rows x n]: log(weight) + log(density) of each row [n_rows x n_features], n_rows <= kDensityRows.
  void compute(std::span<const double> rows, Workspace& workspace, std::span<double> result) const;

 private:
  /// A Gaussian with what its density needs: that of x is exp(constant - |x F - offset|^2 / 2), with F F^T the inverse
  /// of its covariance.
  struct Factored {
    double constant = 0;
    Eigen::VectorXd mean;
    Eigen::VectorXd inverse_deviations;  // unless there are matrices
    HugeArray<double> packed;            // F, as linalg/block_kernel.h has it
    std::vector<double> offset;          // mean F
  };
  void compute_with_matrix(const Factored& one, std::size_t n_rows, Workspace& workspace, std::size_t k,
                           std::span<double> result) const;

  bool has_matrices_;
  std::size_t n_features_;
  std::size_t n_columns_;  // of F, up to a whole number of linalg::kResultColumns
  std::vector<Factored> factored_;
};

}  // namespace podere::cluster
