// podere._core: what the Python package needs of C++, and nothing of how its estimators behave.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "podere/algorithm/algorithm.h"
#include "podere/algorithm/model_file.h"
#include "podere/base/atomic_file.h"
#include "podere/base/error.h"
#include "podere/base/machine.h"
#include "podere/base/parallel.h"
#include "podere/catalog/catalog.h"
#include "podere/classify/preprocessing.h"
#include "podere/comm/communicator.h"
#include "podere/neural/model.h"
#include "podere/neural/predict.h"
#include "podere/neural/train.h"
#include "podere/python/function_study.h"
#include "podere/python/image_layer.h"
#include "podere/python/matrices.h"
#include "podere/python/signal_progress.h"
#include "podere/report/page.h"
#include "podere/table/strided.h"
#include "podere/tree/model.h"
#include "podere/tree/predict.h"
#include "podere/tree/shap.h"
#include "podere/tree/train.h"
#include "podere/tune/study.h"

template <>
struct pybind11::detail::type_caster<podere::table::CategoryTexts>
    : pybind11::detail::list_caster<podere::table::CategoryTexts, std::string> {};

namespace podere::python {
namespace {

using table::Element;
using table::fill_column;
using table::fill_features;
using table::SparseColumns;
using table::StridedMatrix;

Element element_of(const py::dtype& type) {
  if (!type.attr("isnative").cast<bool>()) throw py::type_error("an array in another byte order than this machine's");
  try {
    return table::parse_element(type.attr("name").cast<std::string>());
  } catch (const InputError& error) {
    throw py::type_error(error.what());
  }
}

/// A matrix [n_rows x n_columns], or one column [n_rows].
StridedMatrix matrix_of(const py::array& array) {
  if (array.ndim() != 1 && array.ndim() != 2) throw py::value_error("an array of one or two dimensions is needed");
  const bool is_column = array.ndim() == 1;
  return {.begin = static_cast<const std::byte*>(array.data()),
          .n_rows = static_cast<std::size_t>(array.shape(0)),
          .n_columns = is_column ? 1 : static_cast<std::size_t>(array.shape(1)),
          .row_stride = array.strides(0),
          .column_stride = is_column ? 0 : array.strides(1),
          .element = element_of(array.dtype())};
}

template <typename T>
std::span<const T> span_of(const py::array_t<T, py::array::c_style>& array) {
  return {array.data(), static_cast<std::size_t>(array.size())};
}

/// Rows on their way into training or prediction.
class Rows {
 public:
  Rows(std::uint64_t n_rows, std::vector<std::string> features, std::map<std::size_t, table::Dictionary> categories,
       std::optional<std::string> label, std::optional<std::string> weight, std::set<std::size_t> dates)
      : table_({.features = std::move(features),
                .label = std::move(label),
                .weight = std::move(weight),
                .categories = std::move(categories),
                .dates = std::move(dates)},
               n_rows, {0, n_rows}) {}

  void set_features(const py::array& values, std::size_t first, int n_threads) {
    const StridedMatrix matrix = matrix_of(values);
    const py::gil_scoped_release unlocked;
    fill_features(matrix, "X", table_, first, n_threads);
  }

  template <typename Index, typename Value>
  void set_sparse_features(const py::array_t<Index, py::array::c_style>& starts,
                           const py::array_t<Index, py::array::c_style>& rows,
                           const py::array_t<Value, py::array::c_style>& values, int n_threads) {
    const SparseColumns<Index, Value> columns{table_.n_rows(), span_of(starts), span_of(rows), span_of(values)};
    const py::gil_scoped_release unlocked;
    fill_features(columns, "X", table_, n_threads);
  }

  void set_label(const py::array& values, int n_threads) { set_column(values, "y", table_.label(), n_threads); }
  void set_weight(const py::array& values, int n_threads) {
    set_column(values, "sample_weight", table_.weight(), n_threads);
  }

  void set_classes(std::vector<std::string> texts) { table_.set_classes(std::move(texts)); }

  const table::Table& table() const { return table_; }
  table::Table& table() { return table_; }

 private:
  static void set_column(const py::array& values, const char* name, std::span<float> column, int n_threads) {
    const StridedMatrix matrix = matrix_of(values);
    const py::gil_scoped_release unlocked;
    fill_column(matrix, name, column, n_threads);
  }

  table::Table table_;
};

/// The options that `given` names, enumerations by the names of their values.
template <typename Options>
Options options_of(const py::dict& given) {
  Options options;
  std::size_t n_used = 0;
  Options::visit_fields(options, [&]<typename T>(const char* name, T& value) {
    if (!given.contains(name)) return;
    if constexpr (NamedEnum<T>) {
      value = parse_name<T>(given[name].cast<std::string>());
    } else {
      value = given[name].cast<T>();
    }
    ++n_used;
  });
  if (n_used != given.size()) throw py::key_error("unknown options of training");
  return options;
}

tree::Model train(Rows& rows, const Rows* validation, const std::string& objective, const py::dict& given,
                  const tree::Model* base, int n_threads, py::object show) {
  auto options = options_of<tree::Options>(given);
  options.objective = parse_name<tree::Objective>(objective);
  SignalProgress progress(std::move(show));
  std::optional<tree::Model> model;
  {
    const py::gil_scoped_release unlocked;
    model =
        tree::train(table::HeldRows(std::move(rows.table())), validation != nullptr ? &validation->table() : nullptr,
                    options, comm::Communicator::self(), n_threads, progress, nullptr, {.base = base});
  }
  progress.finish();
  return std::move(*model);
}

neural::Model train_network(Rows& rows, const Rows* validation, const py::dict& given, const neural::Model* base,
                            int n_threads, py::object show) {
  const neural::Options options = options_of<neural::Options>(given);
  SignalProgress progress(std::move(show));
  std::optional<neural::Model> model;
  {
    const py::gil_scoped_release unlocked;
    model =
        neural::train(table::HeldRows(std::move(rows.table())), validation != nullptr ? &validation->table() : nullptr,
                      options, comm::Communicator::self(), n_threads, progress, nullptr, {.base = base});
  }
  progress.finish();
  return std::move(*model);
}

/// An array that holds `values`, without a copy.
template <typename T>
py::array_t<T> array_of(std::vector<T> values, const std::vector<std::size_t>& shape) {
  auto kept = std::make_unique<std::vector<T>>(std::move(values));
  const T* const begin = kept->data();
  const py::capsule owner(kept.release(), [](void* held) { delete static_cast<std::vector<T>*>(held); });
  return py::array_t<T>(shape, begin, owner);
}

/// A model of any algorithm of the catalog. pybind11 holds no pointers to const.
using AnyModel = algorithm::Model;

std::shared_ptr<AnyModel> share(std::unique_ptr<const AnyModel> model) {
  return std::const_pointer_cast<AnyModel>(std::shared_ptr<const AnyModel>(std::move(model)));
}

/// The model, and the facts of its training as JSON.
std::pair<std::shared_ptr<AnyModel>, std::string> train_any(const std::string& algorithm, Rows& rows,
                                                            const Rows* validation, const std::string& options,
                                                            int n_threads, py::object show) {
  const auto trainer = catalog::algorithm_called(algorithm).trainer(Json::parse(options));
  SignalProgress progress(std::move(show));
  algorithm::Summaries no_summaries;
  algorithm::Trained trained;
  {
    const py::gil_scoped_release unlocked;
    const comm::Communicator alone = comm::Communicator::self();
    trained =
        trainer->train(table::HeldRows(std::move(rows.table())), validation != nullptr ? &validation->table() : nullptr,
                       {.comm = alone, .n_threads = n_threads, .progress = progress, .summaries = no_summaries});
  }
  progress.finish();
  return {share(std::move(trained.model)), trained.facts.dump()};
}

/// What a user may ask of an algorithm, by name.
std::map<std::string, bool> abilities_of(const std::string& algorithm) {
  const algorithm::Abilities abilities = catalog::algorithm_called(algorithm).abilities();
  return {{"validates", abilities.validates}, {"keeps_checkpoints", abilities.keeps_checkpoints}};
}

py::array_t<float> predict_any(const AnyModel& model, const Rows& rows, bool margins, int n_threads) {
  std::vector<float> values;
  {
    const py::gil_scoped_release unlocked;
    values = model.margins(rows.table(), n_threads);
    if (!margins) values = model.predictions(std::move(values), n_threads);
  }
  return array_of(std::move(values), {model.n_outputs(), rows.table().n_rows()});
}

/// The output with the largest margin of each row, the first of several.
py::array_t<std::int32_t> likeliest(const AnyModel& model, const Rows& rows, int n_threads) {
  const std::size_t n = rows.table().n_rows();
  std::vector<std::int32_t> found(n, 0);
  {
    const py::gil_scoped_release unlocked;
    const std::vector<float> margins = model.margins(rows.table(), n_threads);
    parallel_for_slices(n_threads, n, table::kBlockRows, [&](std::size_t begin, std::size_t end, int) {
      std::vector<float> largest(margins.begin() + static_cast<long>(begin), margins.begin() + static_cast<long>(end));
      for (std::size_t k = 1; k < model.n_outputs(); ++k) {
        for (std::size_t i = begin; i < end; ++i) {
          const bool is_larger = margins[k * n + i] > largest[i - begin];
          largest[i - begin] = is_larger ? margins[k * n + i] : largest[i - begin];
          found[i] = is_larger ? static_cast<std::int32_t>(k) : found[i];
        }
      }
    });
  }
  return array_of(std::move(found), {n});
}

using Numbers = std::map<std::string, py::array_t<double>>;

/// An epoch from the weights of `base`, or from the start, and from what the optimizer had after the one before.
/// Returns the model, its history with that of `base` before it, and what the optimizer has now.
std::pair<neural::Model, Numbers> partial_fit_network(Rows& rows, const py::dict& given, const neural::Model* base,
                                                      const Numbers& before, int n_threads) {
  const neural::Options options = options_of<neural::Options>(given);
  neural::TrainState state;
  for (const auto& [name, values] : before) state.numbers[name].assign(values.data(), values.data() + values.size());
  SignalProgress progress;
  std::optional<neural::Model> model;
  {
    const py::gil_scoped_release unlocked;
    neural::TrainState after;
    const neural::Hook keep = [&](const neural::AfterStep& step) {
      if (step.is_epoch_over) after = step.make_checkpoint().state;
    };
    model =
        neural::train(table::HeldRows(std::move(rows.table())), nullptr, options, comm::Communicator::self(), n_threads,
                      progress, nullptr, {.base = base, .solver = before.empty() ? nullptr : &state, .hooks = {keep}});
    state = std::move(after);
  }
  progress.finish();
  if (base != nullptr) {
    const std::vector<double>& losses = base->history.train_loss;
    model->history.train_loss.insert(model->history.train_loss.begin(), losses.begin(), losses.end());
  }
  Numbers now;
  for (const auto& [name, values] : state.numbers) {
    if (name == "run" || name == "best_weights") continue;  // are of the run, not of the optimizer
    // By its shape: of a count pybind11 2.10 asks the dtype for its size, which it does not find in NumPy 2.
    now.emplace(name,
                py::array_t<double>(std::vector<py::ssize_t>{static_cast<py::ssize_t>(values.size())}, values.data()));
  }
  return {std::move(*model), std::move(now)};
}

std::vector<float> margins_of(const tree::Model& model, const table::Table& table, int n_threads) {
  return tree::predict_margins(model, table, n_threads);
}
std::vector<float> margins_of(const neural::Model& model, const table::Table& table, int n_threads) {
  return neural::predict_outputs(model, table, n_threads);
}

/// What margins or predictions are, [n_outputs x n_rows].
template <typename Model>
py::array_t<float> predict(const Model& model, const Rows& rows, bool margins, int n_threads) {
  std::vector<float> values;
  {
    const py::gil_scoped_release unlocked;
    values = margins_of(model, rows.table(), n_threads);
    if (!margins) values = predictions_of(model, std::move(values), n_threads);
  }
  return array_of(std::move(values), {model.n_outputs(), rows.table().n_rows()});
}

/// SHAP values [n_rows x n_outputs x (n_features + 1)], the bias last.
py::array_t<double> explain(const tree::Model& model, const Rows& rows, int n_threads) {
  std::vector<double> values;
  {
    const py::gil_scoped_release unlocked;
    values = tree::shap_values(model, rows.table(), n_threads);
  }
  return array_of(std::move(values), {rows.table().n_rows(), model.n_outputs(), model.schema.features.size() + 1});
}

std::vector<double> joined(std::vector<double> losses, const std::vector<double>& later) {
  losses.insert(losses.end(), later.begin(), later.end());
  return losses;
}

void write_file(const std::string& path, const std::string& text) {
  const py::gil_scoped_release unlocked;
  AtomicFile file(path);
  file.write(text);
  if (file.reader_has_left()) throw_error("{}: the reader of the pipe left before all was written", path);
  file.commit();
}

std::string read_model_text(const std::string& path) {
  const py::gil_scoped_release unlocked;
  return algorithm::read_model_text(path);
}

void define_rows(py::module_& module) {
  py::class_<Rows>(module, "Rows")
      .def(py::init<std::uint64_t, std::vector<std::string>, std::map<std::size_t, table::Dictionary>,
                    std::optional<std::string>, std::optional<std::string>, std::set<std::size_t>>(),
           py::arg("n_rows"), py::arg("features"), py::arg("categories"), py::arg("label") = py::none(),
           py::arg("weight") = py::none(), py::arg("dates") = std::set<std::size_t>())
      .def("set_features", &Rows::set_features, py::arg("values"), py::arg("first"), py::arg("n_threads"))
      .def("set_sparse_features", &Rows::set_sparse_features<std::int32_t, float>, py::arg("starts").noconvert(),
           py::arg("rows").noconvert(), py::arg("values").noconvert(), py::arg("n_threads"))
      .def("set_sparse_features", &Rows::set_sparse_features<std::int32_t, double>, py::arg("starts").noconvert(),
           py::arg("rows").noconvert(), py::arg("values").noconvert(), py::arg("n_threads"))
      .def("set_sparse_features", &Rows::set_sparse_features<std::int64_t, float>, py::arg("starts").noconvert(),
           py::arg("rows").noconvert(), py::arg("values").noconvert(), py::arg("n_threads"))
      .def("set_sparse_features", &Rows::set_sparse_features<std::int64_t, double>, py::arg("starts").noconvert(),
           py::arg("rows").noconvert(), py::arg("values").noconvert(), py::arg("n_threads"))
      .def("set_label", &Rows::set_label, py::arg("values"), py::arg("n_threads"))
      .def("set_classes", &Rows::set_classes, py::arg("texts"))
      .def("set_weight", &Rows::set_weight, py::arg("values"), py::arg("n_threads"));
}

template <typename T>
using Column = py::array_t<T, py::array::c_style>;
/// Of each node its feature, threshold, left child, whether missing values go there, value and cover.
using TreeColumns =
    std::tuple<Column<std::int32_t>, Column<float>, Column<std::int32_t>, Column<bool>, Column<float>, Column<float>>;

tree::Tree tree_of(const TreeColumns& columns) {
  const auto n_nodes = std::get<0>(columns).size();
  const auto check = [&](const auto&... column) {
    if (((column.size() != n_nodes) || ...)) throw py::value_error("columns of a tree differ in length");
  };
  std::apply(check, columns);
  tree::Tree result;
  for (py::ssize_t i = 0; i < n_nodes; ++i) {
    tree::Node& node = result.nodes.emplace_back();
    node.feature = std::get<0>(columns).data()[i];
    node.threshold = std::get<1>(columns).data()[i];
    node.left = std::get<2>(columns).data()[i];
    node.missing_left = std::get<3>(columns).data()[i];
    node.value = std::get<4>(columns).data()[i];
    node.cover = std::get<5>(columns).data()[i];
  }
  return result;
}

/// Trees of another program.
tree::Model model_from_trees(const std::string& objective, double quantile, std::vector<std::string> features,
                             std::vector<std::string> classes, std::vector<double> base_margin,
                             const std::vector<TreeColumns>& trees) {
  tree::Model model;
  model.schema.features = std::move(features);
  model.schema.classes = std::move(classes);
  model.base_margin = std::move(base_margin);
  for (const TreeColumns& columns : trees) model.trees.push_back(tree_of(columns));
  model.options.objective = parse_name<tree::Objective>(objective);
  model.options.quantile = quantile;
  model.options.n_classes = model.n_outputs() > 1 ? static_cast<int>(model.n_outputs()) : 0;
  model.options.n_trees = static_cast<int>(model.n_rounds());
  validate(model);
  return model;
}

/// What models of all kinds have.
template <typename Model>
py::class_<Model> define_model(py::module_& module, const char* name,
                               Model (*from_text)(const std::string&, const std::string&)) {
  return py::class_<Model>(module, name)
      .def_static(
          "from_text",
          [from_text](const std::string& text, const std::string& file) {
            const py::gil_scoped_release unlocked;
            return from_text(text, file);
          },
          py::arg("text"), py::arg("name"))
      .def(
          "to_text", [](const Model& model) { return to_text(model); }, py::call_guard<py::gil_scoped_release>())
      .def("predict", &predict<Model>, py::arg("rows"), py::arg("margins"), py::arg("n_threads"))
      .def_property_readonly("n_outputs", &Model::n_outputs)
      .def_property_readonly("features", [](const Model& model) { return model.schema.features; })
      .def_property_readonly("categories", [](const Model& model) { return model.schema.categories; })
      .def_property_readonly("dates", [](const Model& model) { return model.schema.dates; })
      .def_property_readonly("classes", [](const Model& model) { return model.schema.classes; })
      .def_property_readonly(
          "train_loss",
          [](const Model& model) { return joined(model.history.train_loss, model.history.later_train_loss); })
      .def_property_readonly("validation_loss", [](const Model& model) {
        return joined(model.history.validation_loss, model.history.later_validation_loss);
      });
}

void define_models(py::module_& module) {
  py::class_<AnyModel, std::shared_ptr<AnyModel>>(module, "AnyModel")
      .def_static(
          "from_text",
          [](const std::string& text, const std::string& file) {
            const py::gil_scoped_release unlocked;
            return share(catalog::model_from_text(text, file));
          },
          py::arg("text"), py::arg("name"))
      .def("to_text", &AnyModel::to_text, py::call_guard<py::gil_scoped_release>())
      .def("predict", &predict_any, py::arg("rows"), py::arg("margins"), py::arg("n_threads"))
      .def("likeliest", &likeliest, py::arg("rows"), py::arg("n_threads"))
      .def(
          "measures_of_rows",
          [](const AnyModel& model, const Rows& rows, int n_threads) {
            const py::gil_scoped_release unlocked;
            return model.measures_of_rows(rows.table(), comm::Communicator::self(), n_threads).dump();
          },
          py::arg("rows"), py::arg("n_threads"))
      .def("describe", [](const AnyModel& model) { return model.describe().json.dump(); })
      .def_property_readonly("objective", &AnyModel::objective)
      .def_property_readonly("n_outputs", &AnyModel::n_outputs)
      .def_property_readonly("features", [](const AnyModel& model) { return model.schema().features; })
      .def_property_readonly("categories", [](const AnyModel& model) { return model.schema().categories; })
      .def_property_readonly("dates", [](const AnyModel& model) { return model.schema().dates; })
      .def_property_readonly("classes", [](const AnyModel& model) { return model.schema().classes; });
  define_model<tree::Model>(module, "Model", &tree::from_text)
      .def_property_readonly("objective", [](const tree::Model& model) { return to_string(model.options.objective); })
      .def_static("from_trees", &model_from_trees, py::arg("objective"), py::arg("quantile"), py::arg("features"),
                  py::arg("classes"), py::arg("base_margin"), py::arg("trees"))
      .def("explain", &explain, py::arg("rows"), py::arg("n_threads"))
      .def_property_readonly("n_rounds", &tree::Model::n_rounds)
      .def_property_readonly("early_stopping_rounds",
                             [](const tree::Model& model) { return model.options.early_stopping_rounds; })
      .def_property_readonly("gain", [](const tree::Model& model) { return tree::importance(model).gain; });
  define_model<neural::Model>(module, "Network", &neural::from_text)
      .def_property_readonly("objective", [](const neural::Model& model) { return to_string(model.options.loss); })
      .def_property_readonly("n_epochs", [](const neural::Model& model) { return model.history.train_loss.size(); })
      .def_property_readonly("layers", [](const neural::Model& model) {
        // [n_outputs x (n_inputs + 1)] each, the bias last.
        py::list layers;
        for (const neural::Layer& layer : model.layout.layers()) {
          const auto stride = static_cast<py::ssize_t>(layer.stride() * sizeof(float));
          layers.append(py::array_t<float>({layer.n_outputs, layer.n_inputs + 1},
                                           {stride, static_cast<py::ssize_t>(sizeof(float))},
                                           layer.of(model.weights.data())));
        }
        return layers;
      });
}

using FeatureRows = py::array_t<float, py::array::c_style>;

/// [n x n_features] that `fill` fills without Python's lock.
template <typename Fill>
FeatureRows feature_rows(const ImageLayer& layer, std::size_t n, const Fill& fill) {
  FeatureRows rows({n, layer.n_features()});
  const std::span<float> values(rows.mutable_data(), n * layer.n_features());
  const py::gil_scoped_release unlocked;
  fill(values);
  return rows;
}

image::Picture picture_of(const py::array_t<std::uint8_t, py::array::c_style>& array) {
  const bool is_rgb = array.ndim() == 3 && array.shape(2) == image::kRgb;
  if (array.ndim() < 2 || array.ndim() > 3 || (array.ndim() == 3 && !is_rgb && array.shape(2) != image::kGray))
    throw py::value_error("an array [height x width] or [height x width x 3] is needed");
  image::Picture picture(static_cast<std::uint32_t>(array.shape(1)), static_cast<std::uint32_t>(array.shape(0)),
                         is_rgb ? image::kRgb : image::kGray);
  std::copy_n(array.data(), array.size(), picture.pixels.begin());
  return picture;
}

void define_images(py::module_& module) {
  py::class_<ImageLayer>(module, "ImageLayer")
      .def(py::init<const std::string&, const std::string&, const std::string&, std::uint32_t, unsigned>(),
           py::arg("model"), py::arg("layer"), py::arg("preprocess"), py::arg("size"), py::arg("bits"),
           py::call_guard<py::gil_scoped_release>())
      .def_property_readonly("n_features", &ImageLayer::n_features)
      .def("names", &ImageLayer::names)
      .def(
          "of_files",
          [](const ImageLayer& layer, const std::vector<std::string>& files, int n_threads) {
            return feature_rows(layer, files.size(),
                                [&](std::span<float> values) { layer.of_files(files, values, n_threads); });
          },
          py::arg("files"), py::arg("n_threads"))
      .def(
          "of_arrays",
          [](const ImageLayer& layer, const std::vector<py::array_t<std::uint8_t, py::array::c_style>>& arrays,
             std::size_t first, int n_threads) {
            std::vector<image::Picture> pictures;
            for (const auto& array : arrays) pictures.push_back(picture_of(array));
            return feature_rows(layer, pictures.size(), [&](std::span<float> values) {
              layer.of_pictures(pictures, first, values, n_threads);
            });
          },
          py::arg("arrays"), py::arg("first"), py::arg("n_threads"));
  module.def("preprocessing_names", &classify::preprocessing_names);
  module.def(
      "default_space",
      [](const std::string& algorithm, const std::string& options) {
        return catalog::algorithm_called(algorithm).default_space(Json::parse(options));
      },
      py::arg("algorithm"), py::arg("options"));
  module.def(
      "files_of_pictures",
      [](const std::string& location) {
        std::vector<std::string> files;
        {
          const py::gil_scoped_release unlocked;
          files = files_of_pictures(location);
        }
        return std::vector<py::bytes>(files.begin(), files.end());  // names that may be no text
      },
      py::arg("location"));
}

void define_study(py::module_& module) {
  using Unlocked = py::call_guard<py::gil_scoped_release>;
  py::class_<FunctionStudy>(module, "Study")
      .def(py::init([](const std::string& space, const std::string& search, const std::string& schedule,
                       std::size_t trials, std::size_t eta, std::size_t least, std::size_t most, std::size_t parallel,
                       std::uint64_t seed, bool maximize, const std::string& journal) {
             return std::make_unique<FunctionStudy>(
                 FunctionSearch{.space = space,
                                .search = search,
                                .study = {.n_trials = trials,
                                          .schedule = parse_name<tune::Schedule>(schedule),
                                          .eta = eta,
                                          .least_budget = least,
                                          .most_budget = most,
                                          .parallel = parallel},
                                .seed = seed,
                                .is_maximized = maximize,
                                .journal = journal});
           }),
           py::arg("space"), py::arg("search"), py::arg("schedule"), py::arg("trials"), py::arg("eta"),
           py::arg("least"), py::arg("most"), py::arg("parallel"), py::arg("seed"), py::arg("maximize"),
           py::arg("journal"), Unlocked())
      .def("to_do", &FunctionStudy::to_do, Unlocked())
      .def("report", &FunctionStudy::report, py::arg("trial"), py::arg("rung"), py::arg("score"), py::arg("ended"),
           py::arg("error"), Unlocked())
      .def("trials", &FunctionStudy::trials, Unlocked())
      .def("close", &FunctionStudy::close, Unlocked())
      .def_property_readonly("best", &FunctionStudy::best)
      .def_property_readonly("n_trials", &FunctionStudy::n_trials)
      .def_property_readonly("fault", &FunctionStudy::fault);
}

/// Of runs as a session has them, a JSON list: the page of them, or the document alone.
std::string report_text(const std::string& runs, bool as_page) {
  const Json document = report::document_of(Json::parse(runs).get<std::vector<Json>>());
  return as_page ? report::html_of(document) : to_text(document) + "\n";
}

}  // namespace

PYBIND11_MODULE(_core, module) {
  // pybind11 asks the translator that came last first.
  py::register_local_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(std::move(thrown));
    } catch (const InputError& error) {
      PyErr_SetString(PyExc_ValueError, in_python(error.what()).c_str());
    }  // Error is a std::runtime_error, which is a RuntimeError
  });
  define_rows(module);
  define_models(module);
  define_images(module);
  define_study(module);
  define_matrices(module);
  module.def("abilities_of", &abilities_of, py::arg("algorithm"));
  module.def("train_any", &train_any, py::arg("algorithm"), py::arg("rows"), py::arg("validation").none(true),
             py::arg("options"), py::arg("n_threads"), py::arg("show").none(true));
  module.def("train", &train, py::arg("rows"), py::arg("validation").none(true), py::arg("objective"),
             py::arg("options"), py::arg("base").none(true), py::arg("n_threads"), py::arg("show"));
  module.def("train_network", &train_network, py::arg("rows"), py::arg("validation").none(true), py::arg("options"),
             py::arg("base").none(true), py::arg("n_threads"), py::arg("show"));
  module.def("partial_fit_network", &partial_fit_network, py::arg("rows"), py::arg("options"),
             py::arg("base").none(true), py::arg("before"), py::arg("n_threads"));
  module.def("usable_cores", [] { return this_machine().usable_cores(); });
  module.def("write_file", &write_file, py::arg("path"), py::arg("text"));
  module.def("report_text", &report_text, py::arg("runs"), py::arg("as_page"));
  module.def("read_model_text", &read_model_text, py::arg("path"));
  module.attr("__version__") = PODERE_VERSION;
}

}  // namespace podere::python
