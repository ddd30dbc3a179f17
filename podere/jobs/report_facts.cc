#include "podere/jobs/report_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "podere/base/sha256.h"
#include "podere/evaluate/histograms.h"
#include "podere/table/class_histograms.h"

namespace podere::jobs {
namespace {

constexpr std::size_t kScoreBins = 400;
constexpr std::size_t kResidualBins = 320;  // merged by 2, 4, 8, ... they are bins of a wider range
constexpr double kResidualReach = 6;        // times the mean absolute residual, up to a power of 2
constexpr std::size_t kColumnBins = 60;
constexpr std::size_t kMostDrawnColumns = 200;
constexpr std::size_t kMostDrawnClasses = 10;  // that colors keep apart in a chart

/// The classes of a histogram: texts, or places; none for numbers and for too many.
Json drawn_classes(const table::Table& table, const algorithm::Model& model) {
  const auto& texts = model.schema().classes;
  const table::LabelKind kind = model.label_rules().kind;
  const bool are_classes = kind == table::LabelKind::kTwoClasses || kind == table::LabelKind::kClasses;
  if (!are_classes || !table.schema().label) return nullptr;
  const std::size_t n = std::max<std::size_t>(2, model.n_outputs());
  if (n > kMostDrawnClasses) return nullptr;
  Json names = Json::array();
  for (std::size_t k = 0; k < n; ++k) names.push_back(texts.size() == n ? texts[k] : std::to_string(k));
  return names;
}

/// Places of the features that are drawn, in the order of the table.
std::vector<std::size_t> drawn_features(const table::Table& table, const Json& importance) {
  std::vector<std::size_t> places(table.n_features());
  std::iota(places.begin(), places.end(), 0);
  if (places.size() <= kMostDrawnColumns) return places;
  std::set<std::string> first;
  for (const auto& feature : importance) {
    if (first.size() < kMostDrawnColumns) first.insert(feature.at("feature").get<std::string>());
  }
  if (!first.empty()) {
    std::erase_if(places, [&](std::size_t j) { return !first.contains(table.schema().features[j]); });
  }
  places.resize(std::min(places.size(), kMostDrawnColumns));
  return places;
}

bool has_weights(const comm::Communicator& comm, const MeasuredRows& rows) {
  return comm.all_reduce(static_cast<std::int32_t>(!rows.weights.empty()), comm::Reduction::kMax) != 0;
}

std::vector<float> squares_of(std::span<const float> weights) {
  std::vector<float> squares;
  for (const float weight : weights) squares.push_back(weight * weight);
  return squares;
}

}  // namespace

std::string name_of(const source::SourceSpec& source) {
  const io::RowSelection& rows = source.rows;
  const bool is_path = source.location.find('?') == std::string::npos;
  const std::string file = std::filesystem::path(source.location).filename().string();
  std::string name = is_path && !file.empty() ? file : source.location;
  if (!source.key.empty()) name += ", " + source.key;
  if (rows.is_all()) return name;
  return fmt::format("{}, rows {}:{}", name, rows.first_row > 0 ? std::to_string(rows.first_row) : "",
                     rows.last_row ? std::to_string(*rows.last_row) : "");
}

Json model_facts(const comm::Communicator& comm, const algorithm::Model& model) {
  Json facts = {{"objective", model.objective()}};
  if (comm.is_root()) facts["sha256"] = sha256_of(model.to_text());
  if (const auto& classes = model.schema().classes; !classes.empty()) facts["classes"] = classes;
  const Json described = model.describe().json;
  for (const auto& feature : described.value("features", Json::array())) {
    if (!feature.is_object() || !feature.contains("gain")) continue;
    facts["importance"].push_back(
        {{"feature", feature.at("name")}, {"gain", feature.at("gain")}, {"splits", feature.at("splits")}});
  }
  return facts;
}

Json measured_facts(const comm::Communicator& comm, const algorithm::Model& model, const MeasuredRows& rows,
                    const std::string& which, const std::string& data, Json measures) {
  const auto n_rows = comm.all_reduce(static_cast<std::uint64_t>(rows.labels.size()), comm::Reduction::kSum);
  Json facts = {{"rows", which}, {"data", data}, {"n_rows", n_rows}};
  if (measures.is_null()) measures = measure(comm, model, rows, kRocPoints);
  facts.update(measures);
  if (const auto probabilities = probabilities_of_class_1(model, rows)) {
    const auto weights = evaluate::score_histogram(comm, *probabilities, rows.labels, rows.weights, kScoreBins);
    facts["scores"] = {{"bins", kScoreBins}, {"weights", weights}};
    if (has_weights(comm, rows)) {
      const std::vector<float> squares = squares_of(rows.weights);
      facts["scores"]["squares"] = evaluate::score_histogram(comm, *probabilities, rows.labels, squares, kScoreBins);
    }
  } else if (const double error = real(facts.value("mean_absolute_error", Json())); error > 0) {
    const auto histogram =
        evaluate::residual_histogram(comm, rows.predictions, rows.labels, rows.weights,
                                     std::exp2(std::ceil(std::log2(kResidualReach * error))), kResidualBins);
    facts["residuals"] = {{"edges", {histogram.low, histogram.high}}, {"weights", histogram.weights}};
  }
  return facts;
}

Json column_facts(const comm::Communicator& comm, const table::Table& table, const algorithm::Model& model,
                  const Json& importance, int n_threads) {
  const Json classes = drawn_classes(table, model);
  const std::vector<std::size_t> features = drawn_features(table, importance);
  const auto histograms =
      table::class_histograms(table, features, classes.is_null() ? 1 : classes.size(), kColumnBins, comm, n_threads);
  Json facts = {{"classes", classes}, {"features", Json::array()}, {"left_out", table.n_features() - features.size()}};
  for (std::size_t k = 0; k < features.size(); ++k) {
    const table::ClassHistogram& histogram = histograms[k];
    facts["features"].push_back({{"name", table.schema().features[features[k]]},
                                 {"low", histogram.low},
                                 {"high", histogram.high},
                                 {"weights", histogram.weights},
                                 {"below", histogram.below},
                                 {"above", histogram.above},
                                 {"missing", histogram.missing}});
    const auto categories = table.schema().categories.find(features[k]);
    const bool has_texts = categories != table.schema().categories.end() && categories->second;
    if (has_texts && categories->second->size() == histogram.weights.front().size()) {
      facts["features"].back()["categories"] = *categories->second;
    }
  }
  return facts;
}

void CurveProgress::report(const ProgressStep& step) {
  if (step.phase == "train") {
    if (!since_beginning_) since_beginning_.emplace();
    curve_.add(step, since_beginning_->seconds());
  }
  next_.report(step);
}

}  // namespace podere::jobs
