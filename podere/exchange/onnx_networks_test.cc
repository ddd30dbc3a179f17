#include <gtest/gtest.h>
#include <onnx/checker.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "podere/base/error.h"
#include "podere/base/hash.h"
#include "podere/exchange/format.h"
#include "podere/exchange/onnx.h"
#include "podere/neural/predict.h"

namespace podere::exchange {
namespace {

using neural::Activation;
using neural::Loss;

/// [n_rows x n_columns] of any type.
struct Matrix {
  std::size_t n_rows = 1;
  std::size_t n_columns = 1;
  std::vector<double> values;

  /// Of an array that is repeated where it has one row or one column only, as ONNX has it.
  double at(std::size_t i, std::size_t j) const {
    return values.at((n_rows == 1 ? 0 : i) * n_columns + (n_columns == 1 ? 0 : j));
  }
};

/// The operators that networks are written with, as ONNX says they are evaluated; sums in double precision.
class NetworkEvaluator {
 public:
  explicit NetworkEvaluator(const onnx::GraphProto& graph) : graph_(graph) {
    for (const auto& tensor : graph.initializer()) values_[tensor.name()] = constant(tensor);
  }

  Matrix run(const Matrix& features, const std::string& output) {
    values_["features"] = features;
    for (const auto& op : graph_.node()) values_[op.output(0)] = evaluate(op);
    return values_.at(output);
  }

 private:
  template <typename T>
  static std::vector<double> numbers(const std::string& bytes) {
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return {values.begin(), values.end()};
  }

  static Matrix constant(const onnx::TensorProto& tensor) {
    Matrix matrix;
    if (tensor.dims_size() > 0) matrix.n_columns = static_cast<std::size_t>(tensor.dims(tensor.dims_size() - 1));
    if (tensor.dims_size() > 1) matrix.n_rows = static_cast<std::size_t>(tensor.dims(0));
    const auto type = tensor.data_type();
    matrix.values = type == onnx::TensorProto::DOUBLE  ? numbers<double>(tensor.raw_data())
                    : type == onnx::TensorProto::INT64 ? numbers<std::int64_t>(tensor.raw_data())
                    : type == onnx::TensorProto::UINT8 ? numbers<std::uint8_t>(tensor.raw_data())
                                                       : numbers<float>(tensor.raw_data());
    EXPECT_EQ(matrix.values.size(), matrix.n_rows * matrix.n_columns);
    return matrix;
  }

  static std::int64_t attribute(const onnx::NodeProto& op, const std::string& name) {
    for (const auto& attribute : op.attribute()) {
      if (attribute.name() == name) return attribute.i();
    }
    ADD_FAILURE() << op.op_type() << " has no " << name;
    return 0;
  }

  template <typename Function>
  static Matrix each(std::size_t n_rows, std::size_t n_columns, Function function) {
    Matrix to{n_rows, n_columns, {}};
    for (std::size_t i = 0; i < n_rows; ++i) {
      for (std::size_t j = 0; j < n_columns; ++j) to.values.push_back(function(i, j));
    }
    return to;
  }

  static Matrix gemm(const Matrix& x, const Matrix& w, const Matrix& b) {
    return each(x.n_rows, w.n_rows, [&](std::size_t i, std::size_t j) {
      double sum = b.at(0, j);
      for (std::size_t k = 0; k < x.n_columns; ++k) sum += x.at(i, k) * w.at(j, k);
      return sum;
    });
  }

  static Matrix softmax(const Matrix& x) {
    return each(x.n_rows, x.n_columns, [&](std::size_t i, std::size_t j) {
      double sum = 0;
      for (std::size_t k = 0; k < x.n_columns; ++k) sum += std::exp(x.at(i, k) - x.at(i, j));
      return 1 / sum;
    });
  }

  static Matrix arg_max(const Matrix& x, bool is_last_of_equals) {
    return each(x.n_rows, 1, [&](std::size_t i, std::size_t) {
      std::size_t best = 0;
      for (std::size_t k = 1; k < x.n_columns; ++k) {
        const bool is_better = is_last_of_equals ? x.at(i, k) >= x.at(i, best) : x.at(i, k) > x.at(i, best);
        best = is_better ? k : best;
      }
      return static_cast<double>(best);
    });
  }

  /// Columns of x (axis 1), or a row of x for each of the places (axis 0).
  static Matrix gather(const Matrix& x, const Matrix& places, std::int64_t axis) {
    const auto place = [&](std::size_t i, std::size_t j) { return static_cast<std::size_t>(places.at(i, j)); };
    if (axis == 1)
      return each(x.n_rows, places.n_columns, [&](std::size_t i, std::size_t j) { return x.at(i, place(0, j)); });
    EXPECT_EQ(places.n_columns, 1U);
    for (std::size_t i = 0; i < places.n_rows; ++i) EXPECT_LT(place(i, 0), x.n_rows);
    return each(places.n_rows, x.n_columns, [&](std::size_t i, std::size_t j) { return x.at(place(i, 0), j); });
  }

  Matrix concat(const onnx::NodeProto& op) const {
    EXPECT_EQ(attribute(op, "axis"), 1);
    Matrix all = values_.at(op.input(0));
    for (int k = 1; k < op.input_size(); ++k) {
      const Matrix& next = values_.at(op.input(k));
      all = each(all.n_rows, all.n_columns + next.n_columns, [&](std::size_t i, std::size_t j) {
        return j < all.n_columns ? all.at(i, j) : next.at(i, j - all.n_columns);
      });
    }
    return all;
  }

  Matrix evaluate(const onnx::NodeProto& op) {
    const std::string& type = op.op_type();
    if (type == "Concat") return concat(op);
    const auto input = [&](int k) -> const Matrix& { return values_.at(op.input(k)); };
    const Matrix& x = input(0);
    const auto of_each = [&](auto function) {
      return each(x.n_rows, x.n_columns, [&](std::size_t i, std::size_t j) { return function(x.at(i, j)); });
    };
    if (type == "Gemm") {
      EXPECT_EQ(attribute(op, "transB"), 1);
      return gemm(x, input(1), input(2));
    }
    if (type == "Cast") {
      if (attribute(op, "to") == onnx::TensorProto::DOUBLE) return x;
      if (attribute(op, "to") == onnx::TensorProto::INT64) return of_each([](double v) { return std::trunc(v); });
      EXPECT_EQ(attribute(op, "to"), onnx::TensorProto::FLOAT);
      return of_each([](double v) { return static_cast<double>(static_cast<float>(v)); });
    }
    if (type == "Identity") return x;
    if (type == "Neg") return of_each([](double v) { return -v; });
    if (type == "Relu") return of_each([](double v) { return std::max(v, 0.0); });
    if (type == "Sigmoid") return of_each([](double v) { return 1 / (1 + std::exp(-v)); });
    if (type == "Tanh") return of_each([](double v) { return std::tanh(v); });
    if (type == "IsNaN") return of_each([](double v) { return v != v ? 1.0 : 0.0; });
    if (type == "Softmax") return softmax(x);
    if (type == "ArgMax") {
      EXPECT_EQ(attribute(op, "keepdims"), 0);
      return arg_max(x, attribute(op, "select_last_index") != 0);
    }
    const Matrix& y = input(1);
    if (type == "Gather") return gather(x, y, attribute(op, "axis"));
    if (type == "GreaterOrEqual")
      return each(x.n_rows, x.n_columns, [&](std::size_t i, std::size_t j) { return x.at(i, j) >= y.at(i, j); });
    if (type == "Less")
      return each(x.n_rows, x.n_columns, [&](std::size_t i, std::size_t j) { return x.at(i, j) < y.at(i, j); });
    if (type == "And")
      return each(x.n_rows, x.n_columns, [&](std::size_t i, std::size_t j) { return x.at(i, j) * y.at(i, j); });
    if (type == "Sub")
      return each(x.n_rows, x.n_columns, [&](std::size_t i, std::size_t j) { return x.at(i, j) - y.at(i, j); });
    if (type == "Mul")
      return each(x.n_rows, x.n_columns, [&](std::size_t i, std::size_t j) { return x.at(i, j) * y.at(i, j); });
    if (type == "Add")
      return each(x.n_rows, x.n_columns, [&](std::size_t i, std::size_t j) { return x.at(i, j) + y.at(i, j); });
    if (type == "Div")
      return each(x.n_rows, x.n_columns, [&](std::size_t i, std::size_t j) { return x.at(i, j) / y.at(i, j); });
    if (type == "Where") {
      const Matrix& otherwise = input(2);
      return each(x.n_rows, x.n_columns,
                  [&](std::size_t i, std::size_t j) { return x.at(i, j) != 0 ? y.at(i, j) : otherwise.at(i, j); });
    }
    ADD_FAILURE() << "unknown operator " << type;
    return {};
  }

  const onnx::GraphProto& graph_;
  std::map<std::string, Matrix> values_;
};

constexpr std::size_t kFeatures = 4;

/// Weights and biases from -0.5 to 0.5, and features whose spread is a millionth of their size.
neural::Model some_model(neural::Options options) {
  neural::Model model;
  for (std::size_t j = 0; j < kFeatures; ++j) {
    model.schema.features.push_back("x" + std::to_string(j));
    model.scaling.mean.push_back(1000.1 * static_cast<double>(j + 1));
    model.scaling.scale.push_back(0.0011 * static_cast<double>(j + 1));
  }
  options.n_classes = options.loss == Loss::kCrossEntropy ? 3 : 0;
  model.options = options;
  model.layout = {kFeatures, options.hidden, options.loss == Loss::kCrossEntropy ? std::size_t{3} : std::size_t{1}};
  model.weights.assign(model.layout.size(), 0);
  RandomSequence random(7, 0, 0);
  for (const neural::Layer& layer : model.layout.layers()) {
    for (std::size_t j = 0; j < layer.n_outputs; ++j) {
      float* const row = layer.of(model.weights.data()) + j * layer.stride();
      std::generate_n(row, layer.n_inputs + 1, [&] { return static_cast<float>(random.uniform() - 0.5); });
    }
  }
  validate(model);
  return model;
}

table::Table some_rows(const neural::Model& model) {
  constexpr std::size_t kRows = 70;
  table::Table table({.features = model.schema.features}, kRows, {0, kRows});
  RandomSequence random(8, 0, 0);
  for (std::size_t j = 0; j < kFeatures; ++j) {
    for (std::size_t i = 0; i < kRows; ++i) {
      const double z = 6 * random.uniform() - 3;
      table.feature(j)[i] = model.options.impute && random.uniform() < 0.2
                                ? std::numeric_limits<float>::quiet_NaN()
                                : static_cast<float>(model.scaling.mean[j] + z * model.scaling.scale[j]);
    }
  }
  return table;
}

Matrix matrix_of(const table::Table& table) {
  Matrix matrix{table.n_rows(), table.n_features(), {}};
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    for (std::size_t j = 0; j < table.n_features(); ++j) matrix.values.push_back(table.feature(j)[i]);
  }
  return matrix;
}

onnx::ModelProto parse(const neural::Model& model) {
  onnx::ModelProto file;
  EXPECT_TRUE(file.ParseFromString(to_onnx(model)));
  onnx::checker::check_model(file);  // throws
  return file;
}

TEST(OnnxNetwork, TheGraphGivesThePredictionsOfTheModel) {
  for (const Loss loss : {Loss::kBinaryCrossEntropy, Loss::kCrossEntropy, Loss::kSquaredError}) {
    for (const Activation activation :
         {Activation::kIdentity, Activation::kRelu, Activation::kSigmoid, Activation::kTanh}) {
      SCOPED_TRACE(neural::to_string(loss) + " " + neural::to_string(activation));
      const neural::Model model = some_model({.loss = loss, .hidden = {5, 17}, .activation = activation});
      const table::Table table = some_rows(model);
      const auto file = parse(model);
      const Matrix found = NetworkEvaluator(file.graph())
                               .run(matrix_of(table), loss == Loss::kSquaredError ? "prediction" : "probabilities");
      const std::vector<float> expected = neural::predict(model, table, 1);
      for (std::size_t i = 0; i < table.n_rows(); ++i) {
        for (std::size_t k = 0; k < model.n_outputs(); ++k) {
          const std::size_t column = loss == Loss::kBinaryCrossEntropy ? 1 : k;
          EXPECT_NEAR(found.at(i, column), expected[k * table.n_rows() + i], 2e-6) << "row " << i;
        }
      }
    }
  }
}

TEST(OnnxNetwork, NumbersAreInTheUnitOfTheirLabels) {
  for (const neural::TargetScaling& target :
       {neural::TargetScaling{50000, 10000}, neural::TargetScaling{-3e-6, 1e-7}, neural::TargetScaling{1e6, 1e-3}}) {
    neural::Model model = some_model({.loss = Loss::kSquaredError, .hidden = {5}});
    model.target = target;
    const table::Table table = some_rows(model);
    const auto file = parse(model);
    const Matrix found = NetworkEvaluator(file.graph()).run(matrix_of(table), "prediction");
    const std::vector<float> expected = neural::predict(model, table, 1);
    for (std::size_t i = 0; i < table.n_rows(); ++i) {
      EXPECT_NEAR(found.at(i, 0), expected[i], 2e-6 * target.scale + 1e-7 * std::abs(target.mean)) << "row " << i;
    }
  }
}

TEST(OnnxNetwork, TheLabelIsTheClassOfTheLargestProbability) {
  for (const Loss loss : {Loss::kBinaryCrossEntropy, Loss::kCrossEntropy}) {
    const neural::Model model = some_model({.loss = loss, .hidden = {8}});
    const Matrix rows = matrix_of(some_rows(model));
    const auto file = parse(model);
    const Matrix labels = NetworkEvaluator(file.graph()).run(rows, "label");
    const Matrix probabilities = NetworkEvaluator(file.graph()).run(rows, "probabilities");
    std::vector<bool> seen(probabilities.n_columns);
    for (std::size_t i = 0; i < rows.n_rows; ++i) {
      const auto label = static_cast<std::size_t>(labels.at(i, 0));
      seen.at(label) = true;
      double sum = 0;
      for (std::size_t k = 0; k < probabilities.n_columns; ++k) {
        sum += probabilities.at(i, k);
        EXPECT_LE(probabilities.at(i, k), probabilities.at(i, label));
      }
      EXPECT_NEAR(sum, 1, 1e-12);
    }
    EXPECT_GT(std::ranges::count(seen, true), 1) << "a model of one class shows nothing";
  }
}

TEST(OnnxNetwork, EqualProbabilitiesAreTheClassThatPodereTakes) {
  for (const Loss loss : {Loss::kBinaryCrossEntropy, Loss::kCrossEntropy}) {
    neural::Model model = some_model({.loss = loss, .hidden = {}});
    std::ranges::fill(model.weights, 0.0F);
    // As evaluate::predicted_classes has it.
    EXPECT_EQ(NetworkEvaluator(parse(model).graph()).run({1, kFeatures, {1, 1, 1, 1}}, "label").at(0, 0),
              loss == Loss::kBinaryCrossEntropy ? 1 : 0);
  }
}

TEST(OnnxNetwork, AMissingValueIsImputedWhereTheModelDoes) {
  const neural::Model model = some_model({.loss = Loss::kSquaredError, .hidden = {}, .impute = true});
  const table::Table table = some_rows(model);
  ASSERT_TRUE(std::ranges::any_of(table.feature(0), [](float x) { return x != x; }));
  const auto file = parse(model);
  const Matrix found = NetworkEvaluator(file.graph()).run(matrix_of(table), "prediction");
  const std::vector<float> expected = neural::predict(model, table, 1);
  for (std::size_t i = 0; i < table.n_rows(); ++i) EXPECT_NEAR(found.at(i, 0), expected[i], 2e-6) << "row " << i;

  const auto strict = parse(some_model({.loss = Loss::kSquaredError, .hidden = {}}));
  EXPECT_TRUE(std::isnan(NetworkEvaluator(strict.graph()).run({1, kFeatures, {NAN, 1, 1, 1}}, "prediction").at(0, 0)));
}

/// Categories at x1, of as many texts as have an input each, and at x3, of more.
neural::Model model_with_categories(bool impute) {
  constexpr int kOneHot = 6;
  neural::Model model = some_model({.loss = Loss::kSquaredError, .hidden = {5}, .one_hot = kOneHot, .impute = impute});
  for (const std::size_t feature : {1, 3}) {
    table::CategoryTexts texts;
    for (int k = 0; k < (feature == 1 ? 3 : 20); ++k) texts.push_back("town " + std::to_string(100 + k));
    model.schema.categories.emplace(feature, texts);
    model.scaling.mean[feature] = 0;
    model.scaling.scale[feature] = 1;
  }
  model.layout = neural::Layout(1 + 3 + 1 + kOneHot, std::vector<int>{5}, 1);
  RandomSequence random(9, 0, 0);
  model.weights.resize(model.layout.size());
  std::ranges::generate(model.weights, [&] { return static_cast<float>(random.uniform() - 0.5); });
  validate(model);
  return model;
}

TEST(OnnxNetwork, CategoriesAreCodesAndWhatIsNoCodeSetsNoInput) {
  for (const bool impute : {false, true}) {
    const neural::Model model = model_with_categories(impute);
    table::Table table({.features = model.schema.features, .categories = model.schema.categories}, 70, {0, 70});
    const table::Table numbers = some_rows(model);
    for (const std::size_t j : {0, 2}) std::ranges::copy(numbers.feature(j), table.feature(j).begin());
    for (std::size_t i = 0; i < table.n_rows(); ++i) {
      table.feature(1)[i] = i % 5 == 4 ? NAN : static_cast<float>(i % 5);  // 3 is no code
      table.feature(3)[i] = i % 7 == 6 ? NAN : static_cast<float>(i % 21);
    }
    const auto file = parse(model);
    Matrix rows = matrix_of(table);
    for (std::size_t i = 0; i < table.n_rows(); i += 10) rows.values[i * kFeatures + 1] = -1;
    for (std::size_t i = 0; i < table.n_rows(); i += 10) table.feature(1)[i] = NAN;
    const Matrix found = NetworkEvaluator(file.graph()).run(rows, "prediction");
    const std::vector<float> expected = neural::predict(model, table, 1);
    for (std::size_t i = 0; i < table.n_rows(); ++i) EXPECT_NEAR(found.at(i, 0), expected[i], 2e-6) << "row " << i;
    const auto& categories = file.metadata_props(1);
    EXPECT_EQ(categories.key(), "categories");
    EXPECT_TRUE(categories.value().starts_with(R"({"x1":["town 100","town 101","town 102"],"x3":[)"));
  }
}

TEST(OnnxNetwork, FeaturesThatAreNotScaledGoInAsTheyAre) {
  neural::Model model = some_model({.loss = Loss::kSquaredError, .hidden = {}, .standardize = false});
  model.scaling = {std::vector<double>(kFeatures, 0), std::vector<double>(kFeatures, 1)};
  const auto file = parse(model);
  EXPECT_EQ(file.graph().node(0).op_type(), "Gemm");
  const neural::Layer& layer = model.layout.layer(0);
  EXPECT_FLOAT_EQ(
      static_cast<float>(NetworkEvaluator(file.graph()).run({1, kFeatures, {0, 0, 0, 0}}, "prediction").at(0, 0)),
      model.weights[layer.offset + kFeatures]);
}

TEST(OnnxNetwork, InputsAndOutputsAreNamedAndShapedAsThoseOfTrees) {
  const auto shape_of = [](const onnx::ValueInfoProto& value) { return value.type().tensor_type().shape(); };
  const auto classes = parse(some_model({.loss = Loss::kCrossEntropy}));
  EXPECT_EQ(classes.graph().input(0).name(), "features");
  EXPECT_EQ(shape_of(classes.graph().input(0)).dim(1).dim_value(), static_cast<std::int64_t>(kFeatures));
  EXPECT_EQ(classes.graph().output(0).name(), "label");
  EXPECT_EQ(classes.graph().output(0).type().tensor_type().elem_type(), onnx::TensorProto::INT64);
  EXPECT_EQ(shape_of(classes.graph().output(0)).dim_size(), 1);
  EXPECT_EQ(shape_of(classes.graph().output(1)).dim(1).dim_value(), 3);
  EXPECT_EQ(classes.metadata_props(0).value(), R"(["x0","x1","x2","x3"])");
  const auto two = parse(some_model({}));
  EXPECT_EQ(shape_of(two.graph().output(1)).dim(1).dim_value(), 2);
  const auto number = parse(some_model({.loss = Loss::kSquaredError}));
  EXPECT_EQ(number.graph().output(0).name(), "prediction");
  EXPECT_EQ(shape_of(number.graph().output(0)).dim(1).dim_value(), 1);
}

TEST(OnnxNetwork, ANetworkIsReadAndWrittenAsPoderesButNotAsXgboost) {
  const neural::Model model = some_model({});
  const ReadModel read = read_model(neural::to_text(model), "network.json");
  EXPECT_STREQ(read.format.id, "podere");
  EXPECT_EQ(read.format.write(*read.model), neural::to_text(model));
  EXPECT_THROW(format_called("xgboost").write(*read.model), InputError);
}

}  // namespace
}  // namespace podere::exchange
