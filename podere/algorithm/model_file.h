// Files of models.
#pragma once

#include <filesystem>
#include <string>

namespace podere::algorithm {

/// What to do with a file that is no model of Podere; ends messages.
inline constexpr const char* kConvertAdvice = "; podere convert makes one of a model of XGBoost or LightGBM";

/// The content of a model file. Throws InputError if it cannot be read, or is plainly none.
std::string read_model_text(const std::filesystem::path& path);

}  // namespace podere::algorithm
