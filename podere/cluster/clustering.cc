#include "podere/cluster/clustering.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "podere/base/error.h"
#include "podere/base/printable.h"

namespace podere::cluster {
namespace {

constexpr double kUnequal = 1e4;  // of variances: a feature counts 100 times as much as another by its width

}  // namespace

void check_range(const std::string& name, int value, int least, int most) {
  if (value < least || value > most) throw_input_error("{} is {}, allowed is {} to {}", name, value, least, most);
}

void check_share(const std::string& name, double value) {
  if (!std::isfinite(value) || value < 0) throw_input_error("{} is {}, allowed are finite numbers from 0", name, value);
}

void check_row_count(const std::string& name, int n_clusters, std::uint64_t n_rows) {
  if (n_rows == 0) throw InputError("the table has no rows");
  if (static_cast<std::uint64_t>(n_clusters) <= n_rows) return;
  throw_input_error("{} is {}, the table has {} rows: allowed is 1 to {}", name, n_clusters, n_rows, n_rows);
}

void warn_of_widths(const table::Schema& schema, const Spread& spread, const algorithm::Run& run) {
  if (!run.comm.is_root()) return;
  std::size_t widest = 0;
  std::size_t narrowest = schema.features.size();
  std::vector<double> variance;
  for (std::size_t j = 0; j < schema.features.size(); ++j) {
    variance.push_back(spread.variance[j] / spread.units.factor[j] / spread.units.factor[j]);
    if (variance[j] > variance[widest]) widest = j;
    if (variance[j] > 0 && (narrowest == schema.features.size() || variance[j] < variance[narrowest])) narrowest = j;
  }
  if (narrowest == schema.features.size() || variance[widest] < kUnequal * variance[narrowest]) return;
  run.progress.warn(
      fmt::format("{} varies {:.0f} times as much as {}, which hardly counts beside it: --standardize makes all "
                  "features count alike",
                  printable(schema.features[widest]), std::sqrt(variance[widest] / variance[narrowest]),
                  printable(schema.features[narrowest])));
}

double largest_weight(const table::Table& table, const comm::Communicator& comm) {
  if (!table.schema().weight) return 1;
  const double largest = table.n_rows() == 0 ? 0 : double{*std::ranges::max_element(table.weight())};
  return comm.all_reduce(largest, comm::Reduction::kMax);
}

bool is_stopped(const algorithm::Run& run) {
  const bool is_asked = run.comm.is_root() && run.progress.stop_requested();
  return run.comm.all_reduce(std::int32_t{is_asked}, comm::Reduction::kMax) != 0;
}

}  // namespace podere::cluster
