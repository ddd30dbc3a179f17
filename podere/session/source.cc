#include "podere/session/source.h"

#include <algorithm>

#include "podere/base/error.h"
#include "podere/base/number.h"
#include "podere/collider/higgs.h"

namespace podere::session {
namespace {

constexpr std::string_view kColliderPrefix = "collider:";
constexpr std::string_view kSeedPrefix = "?seed=";

/// The events that a job asks for, by their numbers.
table::RowRange choose_events(const SourceSpec& spec, const ColliderSource& source) {
  const io::CsvOptions& csv = spec.csv;
  if (csv.label || csv.weight || csv.delimiter || csv.header || !csv.columns.empty() || !csv.categorical.empty()) {
    throw_input_error(
        "{}: label, weight, columns, categorical, delimiter and header are choices for files; events have all set",
        spec.location);
  }
  const std::uint64_t last = std::min(source.n_events, csv.last_row.value_or(source.n_events));
  if (csv.first_row >= last) {
    throw_input_error("{}: rows {} to {} hold no event", spec.location, csv.first_row, last);
  }
  return {csv.first_row, last};
}

/// The label is in the first column of a file unless another was chosen.
SourceSpec with_label(SourceSpec spec) {
  if (!spec.csv.label) spec.csv.label = "0";
  return spec;
}

}  // namespace

std::optional<ColliderSource> parse_collider(const std::string& location) {
  if (!location.starts_with(kColliderPrefix)) return std::nullopt;
  const std::string_view text = std::string_view(location).substr(kColliderPrefix.size());
  const auto question = std::min(text.find('?'), text.size());
  const auto n_events = parse_count(text.substr(0, question));
  std::optional<std::uint64_t> seed = 0;
  if (question < text.size()) {
    const auto query = text.substr(question);
    seed = query.starts_with(kSeedPrefix) ? parse_count(query.substr(kSeedPrefix.size())) : std::nullopt;
  }
  if (!n_events || !seed) throw_input_error("{}: events are asked for as collider:N or collider:N?seed=S", location);
  return ColliderSource{*n_events, *seed};
}

table::Table load(const SourceSpec& spec, bool needs_label, const comm::Communicator& comm, int n_threads,
                  io::UnknownTexts* unknown) {
  if (spec.arrays) return io::read_arrays(*spec.arrays, comm, n_threads);
  if (const auto source = parse_collider(spec.location)) {
    const table::RowRange events = choose_events(spec, *source);
    return collider::generate_table(source->seed, events.begin, events.end, comm, n_threads);
  }
  const SourceSpec file = needs_label ? with_label(spec) : spec;
  return io::read_csv(file.location, file.csv, comm, n_threads, unknown);
}

std::unique_ptr<table::RowSource> open(const SourceSpec& spec, const comm::Communicator& comm, int n_threads) {
  if (spec.arrays) return std::make_unique<table::HeldRows>(io::read_arrays(*spec.arrays, comm, n_threads));
  if (const auto source = parse_collider(spec.location)) {
    const table::RowRange events = choose_events(spec, *source);
    return std::make_unique<table::ReadRows>(
        collider::generate_rows(source->seed, events.begin, events.end, comm, n_threads));
  }
  const SourceSpec file = with_label(spec);
  return io::open_csv(file.location, file.csv, comm, n_threads);
}

}  // namespace podere::session
