#include "podere/source/source.h"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/number.h"
#include "podere/collider/higgs.h"
#include "podere/io/file.h"
#include "podere/io/idx.h"
#include "podere/io/libsvm.h"

namespace podere::source {
namespace {

constexpr std::string_view kTablePrefix = "table:";
constexpr std::string_view kColliderPrefix = "collider:";
constexpr std::string_view kSeedPrefix = "?seed=";

/// What was chosen that not all sources have.
std::vector<std::string_view> choices_of(const SourceSpec& spec) {
  const io::CsvOptions& csv = spec.csv;
  const bool names_missing = csv.missing != io::CsvOptions().missing;
  const std::pair<bool, std::string_view> choices[] = {{csv.label.has_value(), "label"},
                                                       {csv.weight.has_value(), "weight"},
                                                       {!csv.columns.empty(), "columns"},
                                                       {!csv.drop.empty(), "drop"},
                                                       {!csv.categorical.empty(), "categorical"},
                                                       {csv.delimiter.has_value(), "delimiter"},
                                                       {csv.header.has_value(), "header"},
                                                       {names_missing, "missing"},
                                                       {spec.format != io::FileFormat::kAuto, "format"},
                                                       {!spec.labels.empty(), "labels"},
                                                       {spec.n_features.has_value(), "features"},
                                                       {spec.zero_based, "zero-based"}};
  std::vector<std::string_view> chosen;
  for (const auto& [is_chosen, name] : choices) {
    if (is_chosen) chosen.push_back(name);
  }
  return chosen;
}

void allow(const SourceSpec& spec, std::initializer_list<std::string_view> allowed, std::string_view reason) {
  for (const std::string_view choice : choices_of(spec)) {
    if (std::ranges::find(allowed, choice) != allowed.end()) continue;
    throw_input_error("{}: {} cannot be chosen: {}", spec.location, choice, reason);
  }
}

/// The events that a job asks for, by their numbers.
table::RowRange choose_events(const SourceSpec& spec, const ColliderSource& source) {
  allow(spec, {"missing"}, "events have all set but their rows");
  const std::uint64_t last = std::min(source.n_events, spec.csv.last_row.value_or(source.n_events));
  if (spec.csv.first_row >= last) {
    throw_input_error("{}: rows {} to {} hold no event", spec.location, spec.csv.first_row, last);
  }
  return {spec.csv.first_row, last};
}

io::CsvOptions csv_options(const SourceSpec& spec, bool needs_label) {
  allow(spec, {"label", "weight", "columns", "drop", "categorical", "delimiter", "header", "missing", "format"},
        "it is delimited text, by its name and its first bytes; see --format");
  io::CsvOptions csv = spec.csv;
  csv.needs_label = needs_label;
  return csv;
}

/// The file of the labels that rank 0 finds for an IDX file; empty if there is none. Collective.
std::string find_labels(const SourceSpec& spec, bool needs_label, const comm::Communicator& comm) {
  if (!spec.labels.empty()) return spec.labels;
  std::string found;
  comm.agree([&] {
    if (!comm.is_root()) return;
    const auto files = io::label_files_of(spec.location);
    std::error_code unknown;  // what cannot be looked at is not there
    const auto file =
        std::ranges::find_if(files, [&](const auto& path) { return std::filesystem::exists(path, unknown); });
    if (file != files.end()) {
      found = file->string();
    } else if (needs_label) {
      const io::File images(spec.location);  // throws if it is no file, which matters more
      throw_input_error("{}: has no labels: {}; say where they are with --labels", spec.location,
                        files.empty() ? "they are looked for beside a file with images in its name only"
                                      : "there is no " + files[0].string());
    }
  });
  return comm.broadcast_text(std::move(found));
}

io::IdxOptions idx_options(const SourceSpec& spec, bool needs_label, const comm::Communicator& comm) {
  allow(spec, {"columns", "labels", "format"},
        "it is an IDX file, of numbers alone, whose labels are in another (--labels)");
  return {.labels = find_labels(spec, needs_label, comm),
          .columns = spec.csv.columns,
          .first_row = spec.csv.first_row,
          .last_row = spec.csv.last_row};
}

io::LibsvmOptions libsvm_options(const SourceSpec& spec) {
  allow(spec, {"columns", "missing", "features", "zero-based", "format"},
        "it is a libsvm file, whose lines begin with the label and go on with numbers");
  return {.n_features = spec.n_features,
          .zero_based = spec.zero_based,
          .columns = spec.csv.columns,
          .applied = spec.csv.coded_as,
          .missing = spec.csv.missing,
          .first_row = spec.csv.first_row,
          .last_row = spec.csv.last_row};
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

std::optional<std::string> kept_name(const std::string& location) {
  if (!location.starts_with(kTablePrefix)) return std::nullopt;
  return location.substr(kTablePrefix.size());
}

void make_absolute(SourceSpec& spec) {
  const auto change = [](std::string& path) {
    if (!path.empty()) path = std::filesystem::absolute(path).string();
  };
  if (!kept_name(spec.location) && !parse_collider(spec.location)) change(spec.location);
  change(spec.labels);
}

bool is_made_in_memory(const SourceSpec& spec) { return spec.arrays || parse_collider(spec.location); }

bool chooses_how_to_read(const SourceSpec& spec) {
  return std::ranges::any_of(choices_of(spec), [](std::string_view choice) { return choice != "missing"; });
}

SourceSpec with_format(SourceSpec spec, const comm::Communicator& comm) {
  const bool is_file = !spec.arrays && !kept_name(spec.location) && !parse_collider(spec.location);
  if (!is_file || spec.format != io::FileFormat::kAuto) return spec;
  std::int32_t format = 0;
  comm.agree([&] {
    if (comm.is_root()) format = static_cast<std::int32_t>(io::find_format(spec.location));
  });
  comm.broadcast(std::span(&format, 1));
  spec.format = static_cast<io::FileFormat>(format);
  return spec;
}

std::vector<std::string> label_files_of(const SourceSpec& spec) {
  if (!spec.labels.empty()) return {spec.labels};
  std::vector<std::string> files;
  try {
    const bool is_idx = spec.format == io::FileFormat::kAuto ? io::find_format(spec.location) == io::FileFormat::kIdx
                                                             : spec.format == io::FileFormat::kIdx;
    if (!is_idx) return {};
    for (const auto& path : io::label_files_of(spec.location)) files.push_back(path.string());
  } catch (const Error&) {
    // No file, or one that executors alone can read.
  }
  return files;
}

table::Table load(const SourceSpec& spec, bool needs_label, const comm::Communicator& comm, int n_threads,
                  io::ReadFacts* facts) {
  if (spec.arrays) return io::read_arrays(*spec.arrays, comm, n_threads);
  if (const auto source = parse_collider(spec.location)) {
    const table::RowRange events = choose_events(spec, *source);
    return collider::generate_table(source->seed, events.begin, events.end, comm, n_threads);
  }
  const SourceSpec file = with_format(spec, comm);
  switch (file.format) {
    case io::FileFormat::kIdx:
      return io::read_idx(file.location, idx_options(file, needs_label, comm), comm, n_threads);
    case io::FileFormat::kLibsvm:
      return io::read_libsvm(file.location, libsvm_options(file), comm, n_threads);
    default:
      return io::read_csv(file.location, csv_options(file, needs_label), comm, n_threads, facts);
  }
}

std::unique_ptr<table::RowSource> open(const SourceSpec& spec, const comm::Communicator& comm, int n_threads,
                                       io::ReadFacts* facts) {
  if (spec.arrays) return std::make_unique<table::HeldRows>(io::read_arrays(*spec.arrays, comm, n_threads));
  if (const auto source = parse_collider(spec.location)) {
    const table::RowRange events = choose_events(spec, *source);
    return std::make_unique<table::ReadRows>(
        collider::generate_rows(source->seed, events.begin, events.end, comm, n_threads));
  }
  const SourceSpec file = with_format(spec, comm);
  switch (file.format) {
    case io::FileFormat::kIdx:
      return io::open_idx(file.location, idx_options(file, true, comm), comm, n_threads);
    case io::FileFormat::kLibsvm:
      return io::open_libsvm(file.location, libsvm_options(file), comm, n_threads);
    default:
      return io::open_csv(file.location, csv_options(file, true), comm, n_threads, table::kWindowBytes, facts);
  }
}

}  // namespace podere::source
