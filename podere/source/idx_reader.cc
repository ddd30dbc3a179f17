#include "podere/source/idx_reader.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "podere/base/error.h"
#include "podere/io/byte_source.h"
#include "podere/io/idx.h"

namespace podere::source {
namespace {

using namespace std::string_view_literals;

std::vector<std::string> label_files(const SourceSpec& spec) {
  if (!spec.labels.empty()) return {spec.labels};
  std::vector<std::string> files;
  for (const auto& path : io::label_files_of(spec.location)) files.push_back(path.string());
  return files;
}

/// The file of the labels that rank 0 finds; empty if there is none. Collective.
std::string find_labels(const Reading& reading) {
  const SourceSpec& spec = reading.spec;
  if (!spec.labels.empty()) return spec.labels;
  std::string found;
  reading.comm.agree([&] {
    if (!reading.comm.is_root()) return;
    const auto files = label_files(spec);
    std::error_code unknown;  // what cannot be looked at is not there
    const auto file =
        std::ranges::find_if(files, [&](const auto& path) { return std::filesystem::exists(path, unknown); });
    if (file != files.end()) {
      found = *file;
    } else if (reading.needs_label) {
      io::open_bytes(spec.location);  // throws if it is no file, which matters more
      throw_input_error(
          "{}: has no labels: {}; say where they are with --labels", spec.location,
          files.empty() ? "they are looked for beside a file with images in its name only" : "there is no " + files[0]);
    }
  });
  return reading.comm.broadcast_text(std::move(found));
}

io::IdxOptions idx_options(const Reading& reading) {
  return {.labels = find_labels(reading), .columns = reading.spec.columns, .rows = reading.spec.rows};
}

table::Table load_idx(const Reading& reading) {
  return io::read_idx(reading.spec.location, idx_options(reading), reading.comm, reading.n_threads, reading.facts);
}

std::unique_ptr<table::RowSource> open_idx(const Reading& reading) {
  return io::open_idx(reading.spec.location, idx_options(reading), reading.comm, reading.n_threads, table::kWindowBytes,
                      reading.facts);
}

}  // namespace

Reader idx_reader() {
  return {.name = "idx",
          .first_bytes = {"\0\0"sv},  // as no text begins
          .options = {"columns", "labels"},
          .reason = "it is an IDX file, of numbers alone, whose labels are in another (--labels)",
          .columns = {.labels_have_names = false, .features_have_names = false},
          .load = load_idx,
          .open = open_idx,
          .other_files = label_files};
}

}  // namespace podere::source
