#include "podere/table/few_rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace podere::table {
namespace {

/// How often each row held here counts [n_rows]; nothing if weights do not say so, or say too much.
std::optional<std::vector<std::uint64_t>> counts_of(const Table& labels) {
  std::vector<std::uint64_t> counts(labels.n_rows(), 1);
  for (std::size_t i = 0; i < labels.weight().size(); ++i) {
    const float weight = labels.weight()[i];
    if (!(weight >= 0 && weight <= static_cast<float>(kBlockRows)) || weight != std::floor(weight)) return {};
    counts[i] = static_cast<std::uint64_t>(weight);
  }
  return counts;
}

/// All rows here, with their features [n_rows x n_columns], row by row.
std::vector<std::vector<float>> read_rows(const RowSource& source, const std::function<void(const Table&)>& check) {
  std::vector<std::vector<float>> rows;
  source.for_each_window([&](const Table& window) {
    check(window);
    for (std::size_t i = 0; i < window.n_rows(); ++i) {
      std::vector<float>& row = rows.emplace_back();
      for (std::size_t j = 0; j < window.n_columns(); ++j) row.push_back(window.column(j)[i]);
    }
  });
  return rows;
}

/// Whether one row goes before another: by bits, which order NaN and -0 as well.
bool precedes(const std::vector<float>& a, const std::vector<float>& b) {
  const auto bits = [](float value) { return std::bit_cast<std::uint32_t>(value); };
  return std::ranges::lexicographical_compare(a, b, {}, bits, bits);
}

}  // namespace

std::optional<Table> canonicalize(const RowSource& source, const std::function<void(const Table&)>& check,
                                  const comm::Communicator& comm) {
  const Table& labels = source.labels();
  if (labels.n_global_rows() > kBlockRows) return std::nullopt;
  constexpr std::uint64_t kTooMany = kBlockRows + 1;
  const auto counts = counts_of(labels);
  std::uint64_t n_rows = counts ? 0 : kTooMany;
  if (counts) {
    for (const std::uint64_t count : *counts) n_rows = std::min(n_rows + count, kTooMany);
  }
  n_rows = comm.all_reduce(n_rows, comm::Reduction::kSum);
  if (n_rows == 0 || n_rows >= kTooMany) return std::nullopt;

  // They are at most a row block, so one rank holds them all.
  const RowRange held = labels.n_rows() > 0       ? RowRange{0, n_rows}
                        : labels.rows().begin > 0 ? RowRange{n_rows, n_rows}
                                                  : RowRange{0, 0};
  Table result(source.schema(), n_rows, held);
  comm.agree([&] {
    const std::vector<std::vector<float>> read = read_rows(source, check);
    std::vector<std::vector<float>> rows;
    for (std::size_t i = 0; i < read.size(); ++i) rows.insert(rows.end(), (*counts)[i], read[i]);
    for (std::vector<float>& row : rows) {
      if (source.schema().weight) row.back() = 1;
    }
    std::ranges::sort(rows, precedes);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t j = 0; j < rows[i].size(); ++j) result.column(j)[i] = rows[i][j];
    }
  });
  return result;
}

}  // namespace podere::table
