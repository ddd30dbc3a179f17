// libFuzzer program of the readers of models. What is read must be a model that Podere's own reader takes, and trees
// predict the same when they are written for XGBoost and read back. Anything but an InputError ends the program.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <string>

#include "podere/base/error.h"
#include "podere/exchange/format.h"
#include "podere/neural/algorithm.h"
#include "podere/tree/algorithm.h"
#include "podere/tree/predict.h"

namespace {

using podere::exchange::Format;
using Trees = podere::tree::Model;
using Network = podere::neural::Model;

/// Rows of small numbers, codes of categories and missing values.
podere::table::Table rows_for(const Trees& model) {
  constexpr std::size_t kRows = 16;
  podere::table::Schema schema;
  schema.features = model.schema.features;
  schema.categories = model.schema.categories;
  podere::table::Table table(schema, kRows, {0, kRows});
  for (std::size_t j = 0; j < table.n_features(); ++j) {
    for (std::size_t i = 0; i < kRows; ++i) {
      const auto value = static_cast<float>((i * 7 + j * 3) % 11);
      table.feature(j)[i] = value > 9 ? std::numeric_limits<float>::quiet_NaN() : value - (i % 2 == 0 ? 0.0F : 2.5F);
    }
  }
  return table;
}

bool are_same(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// The model as `format` and back; nothing if the format cannot hold it.
std::optional<Trees> there_and_back(const Trees& model, const Format& format) {
  std::string text;
  try {
    text = format.write(*podere::tree::as_model(model));
  } catch (const podere::InputError&) {
    return std::nullopt;
  }
  return *podere::tree::trees_of(*podere::exchange::read_model(text, "again").model);
}

[[noreturn]] void abort_for(const Format& format, const char* what) {
  fmt::print(stderr, "{} gives other {}\n", format.name, what);
  std::abort();
}

/// What XGBoost's file holds of the categories of `model`: the texts, unless one is beyond ASCII; of numbers only whole
/// ones as such.
bool are_what_xgboost_holds(const podere::table::Schema& again, const podere::table::Schema& model) {
  return again.categories.size() == model.categories.size() &&
         std::ranges::all_of(again.categories, [&](const auto& c) {
           const auto& [feature, texts] = c;
           const auto found = model.categories.find(feature);
           if (found == model.categories.end()) return false;
           return !texts || (found->second && std::ranges::equal(*texts, *found->second));
         });
}

void check_trees(const Trees& model) {
  if (model.schema.features.size() > 1000) return;
  const auto margins = podere::tree::predict_margins(model, rows_for(model), 1);
  for (const char* const id : {"podere", "xgboost", "xgboost-ubjson", "lightgbm"}) {
    const Format& format = podere::exchange::format_called(id);
    const auto again = there_and_back(model, format);
    if (!again || again->n_outputs() != model.n_outputs()) continue;  // of probabilities one is written
    if (id == std::string_view("lightgbm")) {  // has features of categories only where trees split by them
      if (again->schema.features != model.schema.features) abort_for(format, "features");
      continue;
    }
    const bool has_same_texts = id == std::string_view("podere") ? again->schema.categories == model.schema.categories
                                                                 : are_what_xgboost_holds(again->schema, model.schema);
    if (!has_same_texts) abort_for(format, "categories");
    if (!are_same(podere::tree::predict_margins(*again, rows_for(*again), 1), margins)) abort_for(format, "margins");
  }
}

void check_network(const Network& model) {
  const auto again = podere::exchange::read_model(to_text(model), "again").model;
  if (are_same(podere::neural::network_of(*again)->weights, model.weights)) return;
  fmt::print(stderr, "the network has other weights\n");
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n_bytes) {
  if (n_bytes > 1 << 16) return 0;  // longer texts find nothing that shorter ones do not, slowly
  std::unique_ptr<const podere::algorithm::Model> model;
  try {
    model = podere::exchange::read_model(std::string(reinterpret_cast<const char*>(bytes), n_bytes), "model").model;
  } catch (const podere::InputError& error) {
    return 0;
  }
  if (const Network* network = podere::neural::network_of(*model)) check_network(*network);
  const Trees* const trees = podere::tree::trees_of(*model);
  if (trees != nullptr) check_trees(*trees);
  if (trees == nullptr && podere::neural::network_of(*model) == nullptr) return 0;  // which ONNX does not have
  try {
    podere::exchange::format_called("onnx").write(*model);
  } catch (const podere::InputError&) {
    if (trees == nullptr || !has_linear_parts(*trees)) throw;
  }
  return 0;
}
