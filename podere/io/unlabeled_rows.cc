#include "podere/io/unlabeled_rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/printable.h"
#include "podere/table/keep_rows.h"

namespace podere::io {
namespace {

void check_label_column(const std::string& name, const table::Schema& schema) {
  if (!schema.label) throw_input_error("{}: there is no label by which rows could be left out: choose --label", name);
}

/// Throws InputError where nothing is left.
void check_rows_left(const std::string& name, const table::Schema& schema, std::uint64_t n_rows) {
  if (n_rows > 0) return;
  throw_input_error("{}: no row has a label in column {}: choose another with --label", name, printable(*schema.label));
}

constexpr std::uint64_t kWordRows = 64;
static_assert(table::kBlockRows % kWordRows == 0);  // the rows of each rank begin with a word

/// Which rows of a source have a label: a bit each.
class LabeledRowSet {
 public:
  /// Collective.
  LabeledRowSet(const table::Table& labels, const comm::Communicator& comm) {
    std::vector<std::uint64_t> own((labels.n_rows() + kWordRows - 1) / kWordRows);
    for (std::size_t i = 0; i < labels.n_rows(); ++i) {
      const std::uint64_t has_label = std::isnan(labels.label()[i]) ? 0 : 1;
      own[i / kWordRows] |= has_label << (i % kWordRows);
    }
    words_ = comm.all_gather_v(std::span<const std::uint64_t>(own));
    before_.reserve(words_.size() + 1);
    before_.push_back(0);
    for (const std::uint64_t word : words_) {
      before_.push_back(before_.back() + static_cast<std::uint64_t>(std::popcount(word)));
    }
  }

  /// How many they are.
  std::uint64_t size() const { return before_.back(); }
  bool holds(std::uint64_t row) const { return (words_[row / kWordRows] >> (row % kWordRows) & 1) != 0; }
  /// The row of the source that has `n` of them before it, and a label.
  std::uint64_t find(std::uint64_t n) const {
    const auto behind = std::ranges::upper_bound(before_, n);
    const auto word = static_cast<std::size_t>(behind - before_.begin()) - 1;
    std::uint64_t rest = words_[word];
    for (std::uint64_t i = before_[word]; i < n; ++i) rest &= rest - 1;
    return word * kWordRows + static_cast<std::uint64_t>(std::countr_zero(rest));
  }

 private:
  std::vector<std::uint64_t> words_;
  std::vector<std::uint64_t> before_;  // rows with a label before each word, and all
};

}  // namespace

void drop_unlabeled(const std::string& name, const comm::Communicator& comm, int n_threads, table::Table& table,
                    std::uint64_t& n_left_out) {
  check_label_column(name, table.schema());
  std::vector<std::uint8_t> kept(table.n_rows());
  std::ranges::transform(table.label(), kept.begin(), [](float label) { return std::isnan(label) ? 0 : 1; });
  const std::uint64_t n_own = static_cast<std::uint64_t>(std::ranges::count(kept, 0));
  n_left_out = comm.all_reduce(n_own, comm::Reduction::kSum);
  check_rows_left(name, table.schema(), table.n_global_rows() - n_left_out);
  if (n_left_out > 0) table = table::keep_rows(table, kept, comm, n_threads);
}

std::unique_ptr<table::RowSource> open_labeled(const std::string& name, std::unique_ptr<table::RowSource> all,
                                               const table::ReadRows::Fill& read, const comm::Communicator& comm,
                                               std::size_t window_bytes, std::uint64_t& n_left_out) {
  const table::Schema schema = all->schema();
  check_label_column(name, schema);
  const std::uint64_t n_all = all->labels().n_global_rows();
  const auto labeled = std::make_shared<const LabeledRowSet>(all->labels(), comm);
  n_left_out = n_all - labeled->size();
  check_rows_left(name, schema, labeled->size());
  if (n_left_out == 0) return all;
  all.reset();
  const auto fill = [schema, n_all, labeled, read](table::Table& window) {
    const auto [begin, end] = window.rows();
    if (begin == end) return;
    const std::uint64_t last = labeled->find(end - 1);
    std::size_t n_done = 0;
    // In pieces of the size of the window, however many rows are left out between.
    for (std::uint64_t row = labeled->find(begin); row <= last; row += window.n_rows()) {
      table::Table piece(schema, n_all, {row, std::min(row + window.n_rows(), last + 1)});
      read(piece);
      for (std::size_t i = 0; i < piece.n_rows(); ++i) {
        if (!labeled->holds(row + i)) continue;
        for (std::size_t j = 0; j < window.n_columns(); ++j) window.column(j)[n_done] = piece.column(j)[i];
        ++n_done;
      }
    }
  };
  const table::RowRange rows = table::rows_of(labeled->size(), comm.rank(), comm.size());
  std::unique_ptr<table::RowSource> kept;
  comm.agree([&] { kept = std::make_unique<table::ReadRows>(schema, labeled->size(), rows, fill, window_bytes); });
  return kept;
}

}  // namespace podere::io
