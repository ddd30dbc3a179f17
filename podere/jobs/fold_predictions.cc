#include "podere/jobs/fold_predictions.h"

#include <fmt/format.h>

#include <iterator>

#include "podere/base/error.h"
#include "podere/io/write_csv.h"
#include "podere/io/write_lines.h"
#include "podere/jobs/model.h"
#include "podere/table/keep_rows.h"

namespace podere::jobs {

FoldPredictions::FoldPredictions(const table::Table& table, std::size_t n_repeats, const JobContext& context)
    : table_(table), context_(context), alone_(context.comm.split(context.comm.rank(), 0)), repeats_(n_repeats) {
  for (const std::string& text : table.schema().classes) labels_.push_back(io::field_of(text));
}

void FoldPredictions::allocate(const algorithm::Model& model) {
  if (n_outputs_ == 0) {
    n_outputs_ = model.n_outputs();
    class_names_ = class_names(model);
    for (Repeat& repeat : repeats_) {
      repeat.fold.resize(table_.n_rows());
      repeat.values.resize(table_.n_rows() * n_outputs_);
    }
  }
  if (model.n_outputs() != n_outputs_) {
    throw_input_error("models of folds have {} and {} outputs, whose predictions do not fit into one table", n_outputs_,
                      model.n_outputs());
  }
}

void FoldPredictions::add(const algorithm::Model& model, std::size_t repeat, std::size_t fold,
                          const std::vector<std::uint8_t>& is_held_out) {
  context_.comm.agree([&] {
    allocate(model);
    const table::Table rows = table::keep_rows(table_, is_held_out, alone_, context_.n_threads);
    const std::vector<float> values = model.predictions(model.margins(rows, context_.n_threads), context_.n_threads);
    Repeat& into = repeats_.at(repeat);
    std::size_t n = 0;
    for (std::size_t i = 0; i < is_held_out.size(); ++i) {
      if (is_held_out[i] == 0) continue;
      into.fold[i] = static_cast<std::uint8_t>(fold + 1);
      for (std::size_t k = 0; k < n_outputs_; ++k) into.values[i * n_outputs_ + k] = values[k * rows.n_rows() + n];
      ++n;
    }
  });
}

std::string FoldPredictions::head() const {
  std::string names = "row,repeat,fold,label";
  for (std::size_t k = 0; k < n_outputs_; ++k) {
    names += ',';
    names += n_outputs_ > 1 && k < class_names_.size() ? io::field_of("prediction_" + class_names_[k]) : "prediction";
  }
  return names + "\n";
}

void FoldPredictions::append(std::size_t row, std::string& text) const {
  const float label = table_.label()[row];
  for (std::size_t r = 0; r < repeats_.size(); ++r) {
    const Repeat& repeat = repeats_[r];
    if (repeat.fold[row] == 0) continue;
    fmt::format_to(std::back_inserter(text), "{},{},{},", table_.global({row}).value, r + 1, repeat.fold[row]);
    if (labels_.empty()) {
      fmt::format_to(std::back_inserter(text), "{}", label);
    } else {
      text += labels_.at(static_cast<std::size_t>(label));
    }
    for (std::size_t k = 0; k < n_outputs_; ++k) {
      fmt::format_to(std::back_inserter(text), ",{}", repeat.values[row * n_outputs_ + k]);
    }
    text += '\n';
  }
}

void FoldPredictions::write(const std::string& path) const {
  const auto format = [&](std::size_t begin, std::size_t end, std::string& text) {
    for (std::size_t row = begin; row < end; ++row) append(row, text);
  };
  io::write_lines(path, head(), table_.n_rows(), format, context_.comm, context_.n_threads);
}

}  // namespace podere::jobs
