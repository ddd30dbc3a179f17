// libFuzzer program of the reader of networks and checkpoints. An input is the content of such a file; its checksum is
// made here. What is read must be written and read again as the same, predict, and take a step if it says where it was.
// Anything but an InputError ends the program.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "podere/base/checked_json.h"
#include "podere/base/error.h"
#include "podere/base/json.h"
#include "podere/neural/predict.h"
#include "podere/neural/run.h"
#include "podere/table/row_source.h"

namespace {

using namespace podere::neural;

constexpr std::size_t kRows = 100;
constexpr std::size_t kMostWeights = 20000;  // larger ones find nothing that smaller ones do not, slowly

podere::table::Table rows_for(const Model& model) {
  podere::table::Table table({.features = model.schema.features, .categories = model.schema.categories}, kRows,
                             {0, kRows});
  for (std::size_t j = 0; j < table.n_features(); ++j) {
    for (std::size_t i = 0; i < kRows; ++i) table.feature(j)[i] = static_cast<float>((i * 7 + j * 3) % 11);
  }
  return table;
}

/// Resumes from a checkpoint for a step or two.
void resume(const Checkpoint& checkpoint, const podere::table::Table& table) {
  Model model = checkpoint.model;
  if (model.options.servers > 0) return;
  const podere::comm::Communicator alone = podere::comm::Communicator::self();
  const std::vector<float> zeros(kRows, 0.0F);
  std::vector<std::span<const float>> columns;
  for (std::size_t j = 0; j < table.n_features(); ++j) columns.push_back(table.feature(j));
  TrainingRows rows{to_feature_rows(columns, table.rows(), model.schema, model.options, model.scaling, "fuzzed", 1),
                    {zeros, {}, kRows, 1},
                    {},
                    {kRows}};
  for (std::size_t i = 0; i < kRows; ++i) rows.order.push_back(static_cast<std::uint16_t>(i));
  const auto solver = make_solver(model.layout, model.options, rows, {static_cast<std::uint16_t>(kRows)}, kRows,
                                  model.weights, alone, 1);
  podere::Progress progress;
  const std::optional<ValidationRows> none;
  Run run(model, *solver, rows_of(checkpoint), none, alone, 1, progress);
  run.resume(checkpoint);
  run.go({}, run.n_steps() + 2);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n_bytes) {
  if (n_bytes > 1 << 16) return 0;
  const auto content = podere::Json::parse(bytes, bytes + n_bytes, nullptr, false);
  if (content.is_discarded()) return 0;
  try {
    const std::string text = podere::checked_json_text({"podere-network", "a network", 1}, 1, content);
    const Model model = from_text(text, "network");
    if (to_text(from_text(to_text(model), "again")) != to_text(model)) std::abort();
    if (model.layout.size() > kMostWeights || model.options.batch_size == 0) return 0;
    const podere::table::Table table = rows_for(model);
    predict(model, table, 1);
    resume(checkpoint_from_text(text, "checkpoint"), table);
  } catch (const podere::InputError&) {
  } catch (const nlohmann::json::exception&) {  // of a content that cannot be written: no UTF-8
  }
  return 0;
}
