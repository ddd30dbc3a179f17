#include "podere/table/same_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>

#include "podere/base/error.h"
#include "podere/base/first_difference.h"
#include "podere/base/hash.h"

namespace podere::table {

std::string first_difference(const Schema& was, const Schema& is) {
  if (was.features.size() != is.features.size()) {
    return fmt::format("the data had {} features, have {}", was.features.size(), is.features.size());
  }
  const auto [old_name, new_name] = std::ranges::mismatch(was.features, is.features);
  if (old_name != was.features.end()) {
    return difference_in_words(fmt::format("feature {}", old_name - was.features.begin()), *old_name, *new_name);
  }
  if (was.label != is.label) return difference_in_words("the label", was.label, is.label);
  if (was.weight != is.weight) return difference_in_words("the weight", was.weight, is.weight);
  if (was.pictures != is.pictures) return difference_in_words("the form of pictures", was.pictures, is.pictures);
  return was == is ? "" : "the categories of the data are others";
}

DataFingerprint fingerprint_rows(const Table& table, const comm::Communicator& comm) {
  std::uint64_t sum = 0;  // which wraps: no order
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    const auto label = std::bit_cast<std::uint32_t>(table.label()[i]);
    const auto weight = std::bit_cast<std::uint32_t>(table.weight().empty() ? 1.0F : table.weight()[i]);
    sum += hash64(table.global({i}).value, label, weight);
  }
  return {table.n_global_rows(), comm.all_reduce(sum, comm::Reduction::kSum) >> 11U};
}

std::string first_difference(const DataFingerprint& was, const DataFingerprint& is) {
  if (was.n_rows != is.n_rows) return fmt::format("the data had {} rows, have {}", was.n_rows, is.n_rows);
  return was == is ? "" : "labels, weights or the order of rows are others";
}

void check_same_run(const std::string& difference) {
  if (difference.empty()) return;
  throw_input_error("the checkpoint is of another run: {}; give the same, or another file for checkpoints", difference);
}

}  // namespace podere::table
