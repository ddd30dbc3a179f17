// libFuzzer program of the readers of models. What is read must be a model that Podere's own reader takes, and predict
// the same when it is written for XGBoost and read back. Anything but an InputError ends the program.
#include <fmt/core.h>

#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#include "podere/base/error.h"
#include "podere/exchange/format.h"
#include "podere/tree/predict.h"

namespace {

using podere::exchange::Format;
using podere::tree::Model;

/// Rows of small numbers, codes of categories and missing values.
podere::table::Table rows_for(const Model& model) {
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
std::optional<Model> there_and_back(const Model& model, Format format) {
  std::string text;
  try {
    text = write_model(model, format);
  } catch (const podere::InputError&) {
    return std::nullopt;
  }
  return podere::exchange::read_model(text, "again").model;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n_bytes) {
  if (n_bytes > 1 << 16) return 0;  // longer texts find nothing that shorter ones do not, slowly
  Model model;
  try {
    model = podere::exchange::read_model(std::string(reinterpret_cast<const char*>(bytes), n_bytes), "model").model;
  } catch (const podere::InputError& error) {
    return 0;
  }
  if (model.schema.features.size() > 1000) return 0;
  const auto rows = rows_for(model);
  const auto margins = podere::tree::predict_margins(model, rows, 1);
  for (const Format format : {Format::kPodere, Format::kXgboost}) {
    const auto again = there_and_back(model, format);
    if (!again || are_same(podere::tree::predict_margins(*again, rows, 1), margins)) continue;
    fmt::print(stderr, "{} gives other margins\n", podere::exchange::to_string(format));
    std::abort();
  }
  write_model(model, Format::kOnnx);
  return 0;
}
