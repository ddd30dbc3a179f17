// Models as files of any kind that Podere knows.
#pragma once

#include <filesystem>
#include <string>
#include <variant>

#include "podere/neural/model.h"
#include "podere/tree/model.h"

namespace podere::exchange {

using Model = std::variant<tree::Model, neural::Model>;

enum class Format {
  kPodere,    ///< read and written
  kXgboost,   ///< JSON; read and written, of trees
  kLightgbm,  ///< text; read
  kOnnx,      ///< written
};

/// "Podere", "XGBoost", "LightGBM", "ONNX".
const char* to_string(Format format);

struct ReadModel {
  Format format;  ///< what the text was
  Model model;    ///< trees, but for a network of Podere's own
};

/// The model in `text`, whose format is found out. Throws InputError, beginning with `name`, for text that is not a
/// whole model of a format that is read, and for a model with something that Podere does not have, with its name.
ReadModel read_model(const std::string& text, const std::string& name);

/// read_model of a file. Of a file that does not begin as models do, no more than the beginning is read.
ReadModel load_model(const std::filesystem::path& path);

/// The content of a file of `format`. Throws InputError for a format that is not written, or not of such a model.
std::string write_model(const Model& model, Format format);

}  // namespace podere::exchange
