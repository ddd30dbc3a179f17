#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "podere/linalg/triangular_solve.cc"
#include "podere/linalg/triangular_solve.h"

#include <algorithm>

#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "podere/base/huge_array.h"

HWY_BEFORE_NAMESPACE();
namespace podere::linalg::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using SolveDoubles = hn::CappedTag<double, 8>;
using SolveVector = hn::Vec<SolveDoubles>;
constexpr std::size_t kSolveLanes = hn::MaxLanes(SolveDoubles());
constexpr std::size_t kTileRows = 2 * kSolveLanes;

/// The panel of columns [first, first + kColumns) of a tile, whose columns [0, first) are solved. Column j of a tile
/// are kTileRows values, a row each, from x + j kTileRows.
template <std::size_t kColumns>
HWY_INLINE void SolvePanel(const double* r, std::size_t first, double* x) {
  const SolveDoubles d;
  SolveVector left[kColumns][2];
  double* const panel = x + first * kTileRows;
  for (std::size_t c = 0; c < kColumns; ++c) {
    for (std::size_t v = 0; v < 2; ++v) left[c][v] = hn::Load(d, panel + c * kTileRows + v * kSolveLanes);
  }
  for (std::size_t k = 0; k < first; ++k, x += kTileRows, r += kColumns) {
    const SolveVector solved[2] = {hn::Load(d, x), hn::Load(d, x + kSolveLanes)};
    for (std::size_t c = 0; c < kColumns; ++c) {
      const SolveVector factor = hn::Set(d, r[c]);
      for (std::size_t v = 0; v < 2; ++v) left[c][v] = hn::NegMulAdd(solved[v], factor, left[c][v]);
    }
  }
  for (std::size_t k = 0; k < kColumns; ++k, r += kColumns) {
    for (std::size_t v = 0; v < 2; ++v) {
      left[k][v] = hn::Div(left[k][v], hn::Set(d, r[k]));
      hn::Store(left[k][v], d, panel + k * kTileRows + v * kSolveLanes);
      for (std::size_t c = k + 1; c < kColumns; ++c) {
        left[c][v] = hn::NegMulAdd(left[k][v], hn::Set(d, r[c]), left[c][v]);
      }
    }
  }
}

void SolveTile(const double* r, std::size_t n, double* x) {
  constexpr std::size_t kMost = UpperTriangle::kPanelColumns;
  std::size_t first = 0;
  for (; first + kMost <= n; first += kMost) {
    SolvePanel<kMost>(r, first, x);
    r += (first + kMost) * kMost;
  }
  if (n - first == 5) SolvePanel<5>(r, first, x);
  if (n - first == 4) SolvePanel<4>(r, first, x);
  if (n - first == 3) SolvePanel<3>(r, first, x);
  if (n - first == 2) SolvePanel<2>(r, first, x);
  if (n - first == 1) SolvePanel<1>(r, first, x);
}

void SolveRows(const double* r, std::size_t n, std::span<double> rows) {
  HugeArray<double> tile(n * kTileRows);
  const std::size_t n_rows = rows.size() / n;
  for (std::size_t begin = 0; begin < n_rows; begin += kTileRows) {
    const std::size_t n_here = std::min(kTileRows, n_rows - begin);
    double* const from = rows.data() + begin * n;
    if (n_here < kTileRows) std::ranges::fill(tile.span(), 0.0);
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = 0; i < n_here; ++i) tile[j * kTileRows + i] = from[i * n + j];
    }
    SolveTile(r, n, tile.data());
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = 0; i < n_here; ++i) from[i * n + j] = tile[j * kTileRows + i];
    }
  }
}

}  // namespace podere::linalg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace podere::linalg {

HWY_EXPORT(SolveRows);

UpperTriangle::UpperTriangle(const Eigen::MatrixXd& r) : n_(static_cast<std::size_t>(r.cols())) {
  for (std::size_t first = 0; first < n_; first += kPanelColumns) {
    const std::size_t end = std::min(first + kPanelColumns, n_);
    for (std::size_t k = 0; k < end; ++k) {
      for (std::size_t j = first; j < end; ++j) {
        panels_.push_back(r(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(j)));
      }
    }
  }
}

void solve_rows(const UpperTriangle& r, std::span<double> rows) {
  HWY_DYNAMIC_DISPATCH(SolveRows)(r.panels(), r.n(), rows);
}

}  // namespace podere::linalg
#endif
