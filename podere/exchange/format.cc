#include "podere/exchange/format.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>
#include <variant>

#include "podere/base/cannot_read.h"
#include "podere/base/error.h"
#include "podere/base/printable.h"
#include "podere/catalog/catalog.h"
#include "podere/exchange/catboost.h"
#include "podere/exchange/lightgbm.h"
#include "podere/exchange/onnx.h"
#include "podere/exchange/second_class.h"
#include "podere/exchange/ubjson.h"
#include "podere/exchange/xgboost.h"
#include "podere/exchange/xgboost_binary.h"
#include "podere/neural/algorithm.h"
#include "podere/tree/algorithm.h"

namespace podere::exchange {
namespace {

/// The first name in a JSON object; empty if `text` is none.
std::string_view first_key(std::string_view text) {
  constexpr const char* kSpace = " \t\r\n";
  const auto brace = text.find_first_not_of(kSpace);
  if (brace == std::string_view::npos || text[brace] != '{') return {};
  const auto quote = text.find_first_not_of(kSpace, brace + 1);
  if (quote == std::string_view::npos || text[quote] != '"') return {};
  text.remove_prefix(quote + 1);
  return text.substr(0, text.find('"'));
}

/// Podere's files begin with their format. XGBoost's objects come in any order.
bool is_podere_text(std::string_view text) { return first_key(text) == "format"; }

bool is_lightgbm_text(std::string_view text) {
  const std::string_view key = first_key(text);
  if (key == "name" || key == "version_info") {
    throw InputError("is LightGBM's JSON dump, which is not read: save it with save_model");
  }
  return is_lightgbm(text);
}

bool is_catboost(std::string_view text) {
  if (text.starts_with("CBM1"))
    throw InputError("is CatBoost's binary model, which is not read: save it with save_model('FILE', format='json')");
  const std::string_view key =
      first_key(text);  // the first in the order of the alphabet, of a model with statistics ctr_data
  return key == "features_info" || key == "ctr_data";
}

bool is_xgboost(std::string_view text) {
  if (text.starts_with("bs64"))
    throw InputError("is a binary model of XGBoost as base64 text, which XGBoost does not read either: save it again");
  if (text.starts_with('[')) throw InputError("is a dump of trees, not a whole model: save it with save_model");
  return !first_key(text).empty();
}

/// What `act` returns; what it throws begins with `name`.
template <typename Act>
decltype(auto) with_name(const std::string& name, Act act) {
  try {
    return act();
  } catch (const InputError& error) {
    throw_input_error("{}: {}", name, error.what());
  }
}

std::unique_ptr<const algorithm::Model> checked(tree::Model model) {
  tree::validate(model);
  return tree::as_model(std::move(model));
}

std::unique_ptr<const algorithm::Model> checked(neural::Model model) {
  neural::validate(model);
  return neural::as_model(std::move(model));
}

std::unique_ptr<const algorithm::Model> read_podere(const std::string& text, const std::string& name, Target target) {
  with_name(name, [&] { check_no_target(target); });
  return catalog::model_from_text(text, name);
}

template <tree::Model (*from)(const std::string&, Target)>
std::unique_ptr<const algorithm::Model> read_trees(const std::string& text, const std::string& name, Target target) {
  return with_name(name, [&] { return checked(from(text, target)); });
}

std::unique_ptr<const algorithm::Model> read_xgboost(const std::string& text, const std::string& name, Target target) {
  const auto checked_any = [](auto model) { return checked(std::move(model)); };
  return with_name(name, [&] { return std::visit(checked_any, any_from_xgboost(text, target)); });
}

std::string write_podere(const algorithm::Model& model) { return model.to_text(); }

template <std::string (*to)(const tree::Model&)>
std::string write_trees(const algorithm::Model& model) {
  if (const tree::Model* const trees = tree::trees_of(model)) return to(*trees);
  throw_input_error("{} is written as podere{} only: the other formats have boosted trees", model.what(),
                    neural::network_of(model) != nullptr ? " and onnx" : "");
}

std::string write_onnx(const algorithm::Model& model) {
  if (const tree::Model* const trees = tree::trees_of(model)) return to_onnx(*trees);
  if (const neural::Model* const network = neural::network_of(model)) return to_onnx(*network);
  throw_input_error("{} is not written as ONNX: allowed is podere", model.what());
}

/// The format of a file that begins with `text`. Throws InputError if it is none that is read.
const Format& format_of(std::string_view text) {
  for (const Format& format : formats()) {
    if (format.is_mine != nullptr && format.is_mine(text)) return format;
  }
  std::vector<std::string> known;
  for (const Format& format : formats()) {
    if (format.is_mine != nullptr) known.push_back(fmt::format("{} ({})", format.name, format.words));
  }
  throw_input_error("is no model of {}", fmt::join(known, ", "));
}

}  // namespace

// In the order in which they are asked whether a file is theirs.
const std::vector<Format>& formats() {
  static const std::vector<Format> kFormats = {
      {"podere", "Podere", "JSON", is_podere_text, read_podere, write_podere},
      {"lightgbm", "LightGBM", "text", is_lightgbm_text, read_trees<from_lightgbm>, write_trees<to_lightgbm>},
      {"catboost", "CatBoost", "JSON", is_catboost, read_trees<from_catboost>, nullptr},
      {"xgboost-ubjson", "XGBoost", "UBJSON", is_ubjson, read_xgboost, write_trees<to_xgboost_ubjson>},
      {"xgboost-binary", "XGBoost", "binary", is_xgboost_binary, read_xgboost, nullptr},
      {"xgboost", "XGBoost", "JSON", is_xgboost, read_xgboost, write_trees<to_xgboost>},
      {"onnx", "ONNX", "protobuf", nullptr, nullptr, write_onnx},
  };
  return kFormats;
}

bool is_podere(const Format& format) { return format.write == write_podere; }

std::string what_is_lost(const Format& to, const algorithm::Model& model) {
  const tree::Model* const trees = tree::trees_of(model);
  if (trees == nullptr || is_podere(to) || to.write == write_onnx || !second_class(*trees, to.name)) return "";
  return fmt::format("{} gets the probability of the second class alone: that of the first is the rest to 1", to.name);
}

std::vector<std::string> written_formats() {
  std::vector<std::string> ids;
  for (const Format& format : formats()) {
    if (format.write != nullptr) ids.emplace_back(format.id);
  }
  return ids;
}

const Format& format_called(std::string_view id) {
  std::vector<std::string> ids;
  for (const Format& format : formats()) {
    if (format.id == id) return format;
    ids.emplace_back(format.id);
  }
  throw_input_error("format is {}, allowed are {}", printable(id), fmt::join(ids, ", "));
}

ReadModel read_model(const std::string& text, const std::string& name, Target target) {
  const Format& format = with_name(name, [&]() -> const Format& { return format_of(text); });
  return {format, format.read(text, name, target)};
}

ReadModel load_model(const std::filesystem::path& path, Target target) {
  std::error_code unknown;  // what cannot be looked at cannot be opened either
  const auto status = std::filesystem::status(path, unknown);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw_input_error("{}: is not a file but a directory, a pipe or a device", path.string());
  }
  std::ifstream file(path, std::ios::binary);
  std::string text(4096, '\0');
  if (file) file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (file.eof()) return read_model(text, path.string(), target);
  if (file) {
    with_name(path.string(), [&] { format_of(text); });
    std::ostringstream rest;
    rest << file.rdbuf();
    text += std::move(rest).str();
  }
  if (!file) throw_cannot_read(path);
  return read_model(text, path.string(), target);
}

}  // namespace podere::exchange
