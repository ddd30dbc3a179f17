// Models as files of any kind that Podere knows.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "podere/algorithm/model.h"
#include "podere/exchange/target.h"

namespace podere::exchange {

/// A format of model files: a line of the table in format.cc.
struct Format {
  const char* id;     ///< as typed: "xgboost"
  const char* name;   ///< "XGBoost"
  const char* words;  ///< of its files: "JSON"
  /// Whether a file that begins with `text` is of this format. Throws InputError for other files of that program, which
  /// are not read. Null if none is read.
  bool (*is_mine)(std::string_view text);
  /// Throws InputError for text that is not a whole model, and, by name, for what Podere does not have.
  /// Of a model of several targets the chosen one is read.
  std::unique_ptr<const algorithm::Model> (*read)(const std::string& text, const std::string& name, Target target);
  /// The content of a file. Throws InputError for a model that the format cannot hold. Null if none is written.
  std::string (*write)(const algorithm::Model& model);
};

/// A line each in format.cc.
const std::vector<Format>& formats();

bool is_podere(const Format& format);

/// What a file of that format does not say of the model, in words; empty: it says all.
std::string what_is_lost(const Format& to, const algorithm::Model& model);

/// The ids of formats that are written.
std::vector<std::string> written_formats();

/// Throws InputError that names those that there are.
const Format& format_called(std::string_view id);

struct ReadModel {
  const Format& format;  ///< what the text was
  std::unique_ptr<const algorithm::Model> model;
};

/// The model in `text`, whose format is found out. Throws InputError, beginning with `name`, for text that is not a
/// whole model of a format that is read, and for a model with something that Podere does not have, with its name.
ReadModel read_model(const std::string& text, const std::string& name, Target target = std::nullopt);

/// read_model of a file. Of a file that does not begin as models do, no more than the beginning is read.
ReadModel load_model(const std::filesystem::path& path, Target target = std::nullopt);

}  // namespace podere::exchange
