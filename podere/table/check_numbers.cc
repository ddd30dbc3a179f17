#include "podere/table/check_numbers.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/parallel.h"
#include "podere/base/printable.h"

namespace podere::table {
namespace {

constexpr std::uint64_t kNoBadRow = std::numeric_limits<std::uint64_t>::max();

/// The first row that a check does not pass, or kNoBadRow, over all ranks. Collective.
template <typename IsBad>
std::uint64_t first_bad_row(std::size_t n_rows, GlobalRow first, const comm::Communicator& comm, int n_threads,
                            IsBad&& is_bad) {
  std::vector<std::uint64_t> of_thread(static_cast<std::size_t>(n_threads), kNoBadRow);
  parallel_for_slices(n_threads, n_rows, kGrainRows, [&](std::size_t begin, std::size_t end, int thread) {
    std::uint64_t& found = of_thread[static_cast<std::size_t>(thread)];
    const std::size_t i = is_bad(begin, end);
    if (i < end) found = std::min(found, first.value + i);
  });
  return comm.all_reduce(*std::ranges::min_element(of_thread), comm::Reduction::kMin);
}

}  // namespace

void check_features_are_numbers(const Schema& schema, const std::string& what) {
  if (schema.features.empty()) throw InputError("the table has no features");
  if (schema.categories.empty()) return;
  std::vector<std::string> names;
  for (const auto& [feature, texts] : schema.categories) names.push_back(schema.features[feature]);
  throw_input_error("{} takes numbers, and these features have categories: {}; leave them out by --drop", what,
                    printable_list(names));
}

void check_complete(std::span<const std::span<const float>> columns, std::span<const std::string> names,
                    GlobalRow first, const std::string& need, const comm::Communicator& comm, int n_threads) {
  const std::size_t n_rows = columns.empty() ? 0 : columns.front().size();
  const std::uint64_t row = first_bad_row(n_rows, first, comm, n_threads, [&](std::size_t begin, std::size_t end) {
    std::size_t bad = end;
    for (const auto& column : columns) {
      const auto is_bad = [](float value) { return !std::isfinite(value); };
      const auto found =
          std::find_if(column.begin() + static_cast<long>(begin), column.begin() + static_cast<long>(bad), is_bad);
      bad = static_cast<std::size_t>(found - column.begin());
    }
    return bad;
  });
  if (row == kNoBadRow) return;
  comm.agree([&] {
    if (row < first.value || row >= first.value + n_rows) return;
    for (std::size_t j = 0; j < columns.size(); ++j) {
      const float value = columns[j][row - first.value];
      if (std::isfinite(value)) continue;
      throw_input_error("row {}, column {}: the value is {}, and {} numbers: leave the row or the column out", row,
                        printable(names[j]), std::isnan(value) ? "missing (NaN)" : "infinite", need);
    }
  });
}

void check_weights(const Table& table, const comm::Communicator& comm, int n_threads) {
  const std::span<const float> weights = table.weight();
  if (!table.schema().weight) return;
  const auto is_bad = [&](float weight) { return !std::isfinite(weight) || weight < 0; };
  const std::uint64_t row =
      first_bad_row(weights.size(), table.global({0}), comm, n_threads, [&](std::size_t begin, std::size_t end) {
        return static_cast<std::size_t>(
            std::find_if(weights.begin() + static_cast<long>(begin), weights.begin() + static_cast<long>(end), is_bad) -
            weights.begin());
      });
  if (row != kNoBadRow) {
    throw_input_error("row {}: its weight {} is negative or no number, allowed are finite numbers from 0", row,
                      printable(*table.schema().weight));
  }
  const float largest = weights.empty() ? 0 : *std::ranges::max_element(weights);
  if (comm.all_reduce(largest, comm::Reduction::kMax) == 0) throw InputError("all rows have the weight 0");
}

}  // namespace podere::table
