// What models predict of rows that they were not trained on, as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "podere/algorithm/model.h"
#include "podere/comm/communicator.h"
#include "podere/jobs/job_context.h"
#include "podere/table/table.h"

namespace podere::jobs {

/// Gathers the predictions of one fold after the other; each rank those of the rows of `table` that it holds. Memory: 4
/// bytes for each row here, output and repeat. The table outlives it.
class FoldPredictions {
 public:
  FoldPredictions(const table::Table& table, std::size_t n_repeats, const JobContext& context);

  /// Of the rows whose `is_held_out` [n_rows] is not 0, by a model that was not trained on them. Collective. Throws
  /// InputError, on all ranks, for a model with another number of outputs than the first.
  void add(const algorithm::Model& model, std::size_t repeat, std::size_t fold,
           const std::vector<std::uint8_t>& is_held_out);

  /// A line with names, then one for each row and repeat in which it was held out, in the order of rows: row from 0,
  /// repeat and fold from 1, label, and what `podere predict` writes. `path` as for io::write_lines, which says what is
  /// thrown. Collective.
  void write(const std::string& path) const;

 private:
  struct Repeat {
    std::vector<std::uint8_t> fold;  ///< from 1; 0: the row was not held out [n_rows]
    std::vector<float> values;       ///< [n_rows x n_outputs]
  };
  void allocate(const algorithm::Model& model);
  std::string head() const;
  void append(std::size_t row, std::string& text) const;

  const table::Table& table_;
  const JobContext& context_;
  comm::Communicator alone_;  // this rank
  std::vector<Repeat> repeats_;
  std::size_t n_outputs_ = 0;             // of the first model
  std::vector<std::string> class_names_;  // of the first model
  std::vector<std::string> labels_;       // of classes that are texts, as fields
};

}  // namespace podere::jobs
