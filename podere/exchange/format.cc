#include "podere/exchange/format.h"

#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

#include "podere/base/error.h"
#include "podere/exchange/lightgbm.h"
#include "podere/exchange/onnx.h"
#include "podere/exchange/xgboost.h"

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

/// Throws InputError for what does not begin as a model that is read does.
void check_beginning(std::string_view text) {
  if (is_lightgbm(text)) return;
  if (text.starts_with("{L") || text.starts_with("{l") || text.starts_with("binf")) {
    throw InputError("is a binary model of XGBoost, which is not read: save it under a name that ends in .json");
  }
  if (text.starts_with('[')) throw InputError("is a dump of trees, not a whole model: save it with save_model");
  const std::string_view key = first_key(text);
  if (key == "name" || key == "version_info") {
    throw InputError("is LightGBM's JSON dump, which is not read: save it with save_model");
  }
  if (key.empty()) throw InputError("is no model of Podere (JSON), XGBoost (JSON) or LightGBM (text)");
}

/// Podere's files begin with their format. XGBoost's objects come in any order.
bool is_podere(std::string_view text) { return first_key(text) == "format"; }

/// What `act` returns; what it throws begins with `name`.
template <typename Act>
auto with_name(const std::string& name, Act act) {
  try {
    return act();
  } catch (const InputError& error) {
    throw_input_error("{}: {}", name, error.what());
  }
}

}  // namespace

const char* to_string(Format format) {
  switch (format) {
    case Format::kPodere:
      return "Podere";
    case Format::kXgboost:
      return "XGBoost";
    case Format::kLightgbm:
      return "LightGBM";
    case Format::kOnnx:
      return "ONNX";
  }
  throw Error("unknown format");
}

ReadModel read_model(const std::string& text, const std::string& name) {
  if (is_podere(text)) {  // whose readers tell the name themselves
    if (neural::is_network_text(text)) return {Format::kPodere, neural::from_text(text, name)};
    return {Format::kPodere, tree::from_text(text, name)};
  }
  return with_name(name, [&]() -> ReadModel {
    check_beginning(text);
    const bool is_of_lightgbm = is_lightgbm(text);
    tree::Model model = is_of_lightgbm ? from_lightgbm(text) : from_xgboost(text);
    tree::validate(model);
    return {is_of_lightgbm ? Format::kLightgbm : Format::kXgboost, std::move(model)};
  });
}

ReadModel load_model(const std::filesystem::path& path) {
  std::error_code unknown;  // what cannot be looked at cannot be opened either
  const auto status = std::filesystem::status(path, unknown);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw_input_error("{}: is not a file but a directory, a pipe or a device", path.string());
  }
  std::ifstream file(path, std::ios::binary);
  std::string text(4096, '\0');
  if (file) file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (file.eof()) return read_model(text, path.string());
  if (file) {
    with_name(path.string(), [&] { check_beginning(text); });
    std::ostringstream rest;
    rest << file.rdbuf();
    text += std::move(rest).str();
  }
  if (!file) throw_input_error("{}: cannot be read", path.string());
  return read_model(text, path.string());
}

std::string write_model(const Model& model, Format format) {
  const auto* const trees = std::get_if<tree::Model>(&model);
  switch (format) {
    case Format::kPodere:
      return std::visit([](const auto& m) { return to_text(m); }, model);
    case Format::kXgboost:
      if (trees == nullptr) throw InputError("a network is not written as XGBoost, which has trees: allowed is ONNX");
      return to_xgboost(*trees);
    case Format::kOnnx:
      return std::visit([](const auto& m) { return to_onnx(m); }, model);
    case Format::kLightgbm:
      break;
  }
  throw_input_error("models are not written as {}", to_string(format));
}

}  // namespace podere::exchange
