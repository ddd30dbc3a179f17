#include "podere/source/collider_reader.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "podere/base/error.h"
#include "podere/base/number.h"
#include "podere/collider/higgs.h"
#include "podere/source/location.h"

namespace podere::source {
namespace {

constexpr std::string_view kSeed = "seed=";

struct Events {
  std::uint64_t seed;
  table::RowRange range;
};

/// The events that a job asks for, by their numbers.
Events choose_events(const SourceSpec& spec) {
  const Location location = parse_location(spec.location);
  const auto n_events = parse_count(location.path);
  std::optional<std::uint64_t> seed = 0;
  if (spec.location.find('?') != std::string::npos) {
    const std::string_view query = location.query;
    seed = query.starts_with(kSeed) ? parse_count(query.substr(kSeed.size())) : std::nullopt;
  }
  if (!n_events || !seed) {
    throw_input_error("{}: events are asked for as collider:N or collider:N?seed=S", spec.location);
  }
  const std::uint64_t last = std::min(*n_events, spec.rows.last_row.value_or(*n_events));
  if (spec.rows.first_row >= last) {
    throw_input_error("{}: rows {} to {} hold no event", spec.location, spec.rows.first_row, last);
  }
  return {*seed, {spec.rows.first_row, last}};
}

table::Table load_events(const Reading& reading) {
  const auto [seed, events] = choose_events(reading.spec);
  return collider::generate_table(seed, events.begin, events.end, reading.comm, reading.n_threads);
}

std::unique_ptr<table::RowSource> open_events(const Reading& reading) {
  const auto [seed, events] = choose_events(reading.spec);
  return std::make_unique<table::ReadRows>(
      collider::generate_rows(seed, events.begin, events.end, reading.comm, reading.n_threads));
}

}  // namespace

Reader collider_reader() {
  return {.name = "collider",
          .reads = Reads::kScheme,
          .options = {"missing"},
          .reason = "events have all set but their rows",
          .load = load_events,
          .open = open_events};
}

}  // namespace podere::source
