// Models of other programs with rows and what those programs predict for them: tests/data/models.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "podere/base/json.h"
#include "podere/exchange/format.h"
#include "podere/table/table.h"
#include "podere/tree/predict.h"

namespace podere::exchange {

inline std::string case_path(const std::string& name) { return PODERE_TEST_DATA "/models/" + name; }

/// The text of a model, such as "lightgbm/binary.model.txt".
inline std::string case_text(const std::string& file) {
  std::ifstream stream(case_path(file), std::ios::binary);
  EXPECT_TRUE(stream) << file;
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// `text` with its one `old` replaced.
inline std::string with(std::string text, const std::string& old, const std::string& replacement) {
  const auto place = text.find(old);
  EXPECT_NE(place, std::string::npos) << old;
  return place == std::string::npos ? text : text.replace(place, old.size(), replacement);
}

/// The rows of a case, with the features of `model`.
inline table::Table case_table(const std::string& name, const tree::Model& model) {
  const auto rows = SortedJson::parse(case_text(name + ".input.json")).at("features");
  table::Schema schema = model.schema;
  schema.label.reset();
  schema.weight.reset();
  table::Table table(schema, rows.size(), {0, rows.size()});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < table.n_features(); ++j) {
      const auto& value = rows[i].at(j);
      table.feature(j)[i] = value.is_null() ? std::numeric_limits<float>::quiet_NaN() : value.get<float>();
    }
  }
  return table;
}

/// Numbers per row, or a list of them, output by output as predict() has them.
inline void expect_near(const SortedJson& expected, const std::vector<float>& found, const std::string& what) {
  const std::size_t n_rows = expected.size();
  ASSERT_GT(n_rows, 0U);
  for (std::size_t i = 0; i < n_rows; ++i) {
    const auto row =
        expected[i].is_array() ? expected[i].get<std::vector<double>>() : std::vector{expected[i].get<double>()};
    ASSERT_EQ(found.size(), row.size() * n_rows);
    for (std::size_t k = 0; k < row.size(); ++k) {
      EXPECT_NEAR(found[k * n_rows + i], row[k], 1e-6 * std::max(1.0, std::abs(row[k]))) << what << " of row " << i;
    }
  }
}

/// `model` predicts for the rows of a case what the case expects.
inline void expect_case(const std::string& name, const tree::Model& model) {
  SCOPED_TRACE(name);
  const auto expected = SortedJson::parse(case_text(name + ".expected.json"));
  const table::Table table = case_table(name, model);
  expect_near(expected.at("predictions"), tree::predict_margins(model, table, 1), "margin");
  expect_near(expected.at("predictions_transformed"), tree::predict(model, table, 1), "prediction");
}

}  // namespace podere::exchange
