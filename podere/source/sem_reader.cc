#include "podere/source/sem_reader.h"

#include <fmt/format.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/number.h"
#include "podere/image/micrograph.h"
#include "podere/source/location.h"
#include "podere/source/picture_columns.h"
#include "podere/source/picture_numbers.h"
#include "podere/source/picture_query.h"

namespace podere::source {
namespace {

constexpr std::string_view kSemExample = "sem:1000?seed=1&size=32";

PictureQuery query_of(const std::string& location) {
  return parse_picture_query(location, {"size", "seed", "channels", "fit", "model", "layer", "preprocess"},
                             kSemExample);
}

std::unique_ptr<columns::ColumnFile> simulate_pictures(const Reading& reading, int /*n_here*/) {
  const std::string& location = reading.spec.location;
  const auto n = parse_count(parse_location(location).path);
  if (!n || *n == 0)
    throw_input_error("{}: micrographs are asked for by their number, as in {}", location, kSemExample);
  const PictureQuery query = query_of(location);
  PictureNumbers numbers = picture_numbers(query);
  PictureRows rows;
  rows.name = location;
  rows.n = *n;
  rows.columns = std::move(numbers.names);
  rows.pictures = std::move(numbers.pictures);
  rows.read = [seed = query.seed, compute = std::move(numbers.compute)](std::uint64_t i, std::span<float> values) {
    compute(image::make_micrograph(seed, i).picture, fmt::format("micrograph {}", i), values);
  };
  rows.label = [seed = query.seed](std::uint64_t i) {
    return std::string(image::kMicrographKinds[static_cast<std::size_t>(image::micrograph_kind(seed, i))]);
  };
  return picture_columns(std::move(rows));
}

table::Table load_sem(const Reading& reading) { return load_pictures(reading, simulate_pictures); }

std::unique_ptr<table::RowSource> open_sem(const Reading& reading) { return open_pictures(reading, simulate_pictures); }

std::vector<std::string> files_of_network(const SourceSpec& spec) { return files_of_query(query_of(spec.location)); }

void make_files_absolute(SourceSpec& spec) { spec.location = with_absolute_files(spec.location); }

}  // namespace

Reader sem_reader() {
  return {.name = "sem",
          .reads = Reads::kScheme,
          .options = {"columns", "drop", "positive", "missing"},
          .reason = "micrographs have their pixels or features as columns, and their kind as the label",
          .load = load_sem,
          .open = open_sem,
          .other_files = files_of_network,
          .make_absolute = make_files_absolute};
}

}  // namespace podere::source
