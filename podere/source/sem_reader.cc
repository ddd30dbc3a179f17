#include "podere/source/sem_reader.h"

#include <string>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/number.h"
#include "podere/image/micrograph.h"
#include "podere/source/location.h"
#include "podere/source/picture_columns.h"

namespace podere::source {
namespace {

constexpr std::string_view kSemExample = "sem:1000?seed=1&size=32";

std::unique_ptr<columns::ColumnFile> simulate_pictures(const Reading& reading) {
  const std::string& location = reading.spec.location;
  const auto n = parse_count(parse_location(location).path);
  if (!n || *n == 0)
    throw_input_error("{}: micrographs are asked for by their number, as in {}", location, kSemExample);
  const PictureQuery query = parse_picture_query(location, {"size", "seed", "channels", "fit"}, kSemExample);
  PictureRows rows;
  rows.name = location;
  rows.n = *n;
  rows.picture = [seed = query.seed](std::uint64_t i) { return image::make_micrograph(seed, i).picture; };
  rows.label = [seed = query.seed](std::uint64_t i) {
    return std::string(image::kMicrographKinds[static_cast<std::size_t>(image::micrograph_kind(seed, i))]);
  };
  return picture_columns(std::move(rows), query.shape);
}

table::Table load_sem(const Reading& reading) { return load_pictures(reading, simulate_pictures); }

std::unique_ptr<table::RowSource> open_sem(const Reading& reading) { return open_pictures(reading, simulate_pictures); }

}  // namespace

Reader sem_reader() {
  return {.name = "sem",
          .reads = Reads::kScheme,
          .options = {"columns", "drop", "positive", "missing"},
          .reason = "micrographs have their pixels as columns, and their kind as the label",
          .load = load_sem,
          .open = open_sem};
}

}  // namespace podere::source
