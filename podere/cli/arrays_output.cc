#include "podere/cli/arrays_output.h"

namespace podere::cli {

void add_arrays_options(CLI::App& app, ArraysOptions& options, const std::string& arrays) {
  auto* output = app.add_option("-o,--output", options.path, "File or folder to write: " + arrays)
                     ->transform(output_file())
                     ->type_name("FILE.npz|FILE.h5|FOLDER/");
  add_choice<columns::ArraysFormat>(app, "--output-format", options.format, "by the ending of -o",
                                    "Format of -o; npy and csv: a folder with a file for each array")
      ->needs(output);
}

ArraysOutput::ArraysOutput(const ArraysOptions& options) : format_(columns::format_of(options.path, options.format)) {
  if (options.path.empty()) return;
  if (columns::is_of_folders(format_)) {
    folder_.emplace(options.path);
  } else {
    file_.emplace(options.path);
  }
}

std::string ArraysOutput::path() const {
  if (folder_) return folder_->temporary_path().string();
  return file_ ? file_->path() : "";
}

void ArraysOutput::commit() {
  if (folder_) folder_->commit();
  if (file_) file_->commit();
}

}  // namespace podere::cli
