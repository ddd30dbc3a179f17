#include "podere/cli/shared_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace podere::cli {

SharedFile::SharedFile(const std::string& path) : output_(path) {
  if (output_.temporary_path().empty()) {
    scratch_.emplace(std::filesystem::temp_directory_path() / fmt::format("podere-output-{}", getpid()));
  }
}

std::string SharedFile::path() const { return (scratch_ ? *scratch_ : output_).temporary_path().string(); }

void SharedFile::commit() {
  if (scratch_) {
    std::ifstream file(scratch_->temporary_path(), std::ios::binary);
    std::string piece(1 << 20, '\0');
    while (!output_.reader_has_left() &&
           (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) || file.gcount() > 0)) {
      output_.write(std::string_view(piece).substr(0, static_cast<std::size_t>(file.gcount())));
    }
  }
  output_.commit();
}

}  // namespace podere::cli
