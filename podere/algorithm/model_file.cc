#include "podere/algorithm/model_file.h"

#include <fstream>
#include <sstream>
#include <system_error>

#include "podere/base/cannot_read.h"
#include "podere/base/error.h"
#include "podere/base/file_traffic.h"

namespace podere::algorithm {

std::string read_model_text(const std::filesystem::path& path) {
  std::error_code unknown;  // what cannot be looked at cannot be opened either
  const auto status = std::filesystem::status(path, unknown);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw_input_error("{}: is not a file but a directory, a pipe or a device", path.string());
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file && (file >> std::ws).peek() != '{' && !file.bad()) {
    throw_input_error("{}: is not a Podere model; if it is the data, name the model before it{}", path.string(),
                      kConvertAdvice);
  }
  CountedFileCall call(CountedFileCall::Kind::kRead);
  if (file) text << file.rdbuf();
  if (!file) throw_cannot_read(path);
  std::string content = std::move(text).str();
  call.add(content.size());
  return content;
}

}  // namespace podere::algorithm
