#include "podere/source/source.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "podere/base/error.h"
#include "podere/io/file_list.h"
#include "podere/source/readers.h"

namespace podere::source {
namespace {

/// The source with its format found, and who reads it. Collective. Throws InputError on all ranks.
std::pair<SourceSpec, const Reader*> prepare(const SourceSpec& spec, const comm::Communicator& comm) {
  SourceSpec found = with_format(spec, comm);
  const Reader* reader = nullptr;
  comm.agree([&] {
    reader = &find_reader(found);
    check_options(*reader, found);
    parse_location(found.labels);  // throws for an unknown scheme
  });
  return {std::move(found), reader};
}

}  // namespace

bool is_path(const SourceSpec& spec) { return !spec.arrays && parse_location(spec.location).scheme == kFileScheme; }

void make_absolute(SourceSpec& spec) {
  const auto change = [](std::string& path) {
    if (!path.empty()) path = std::filesystem::absolute(path).string();
  };
  if (is_path(spec)) change(spec.location);
  const Reader* const scheme = spec.arrays ? nullptr : reader_of_scheme(parse_location(spec.location).scheme);
  if (scheme != nullptr && scheme->make_absolute != nullptr) scheme->make_absolute(spec);
  if (!spec.labels.empty() && parse_location(spec.labels).scheme == kFileScheme) change(spec.labels);
}

bool is_made_in_memory(const SourceSpec& spec) {
  return spec.arrays || reader_of_scheme(parse_location(spec.location).scheme) != nullptr;
}

bool chooses_how_to_read(const SourceSpec& spec) {
  return std::ranges::any_of(choices_of(spec), [](const std::string& choice) { return choice != "missing"; });
}

SourceSpec with_format(SourceSpec spec, const comm::Communicator& comm) {
  if (spec.format != kAnyFormat || spec.arrays || kept_name(spec.location)) return spec;
  comm.agree([&] {
    if (!comm.is_root()) return;
    const Reader& reader = find_reader(spec);
    if (reader.reads == Reads::kBytes) spec.format = reader.name;
  });
  spec.format = comm.broadcast_text(std::move(spec.format));
  return spec;
}

ColumnRules column_rules(const SourceSpec& spec) {
  return kept_name(spec.location) ? ColumnRules() : find_reader(spec).columns;
}

bool has_option(const SourceSpec& spec, std::string_view field) {
  if (kept_name(spec.location)) return false;
  const auto& options = find_reader(spec).options;
  return std::ranges::find(options, field) != options.end();
}

std::vector<std::string> other_files(const SourceSpec& spec) {
  if (kept_name(spec.location)) return {};
  try {
    const Reader& reader = find_reader(spec);
    std::vector<std::string> files;
    if (reader.other_files != nullptr) files = reader.other_files(spec);
    if (reader.takes_many && io::may_be_many(spec.location)) {
      for (io::ListedFile& file : io::list_files(spec.location)) files.push_back(std::move(file.path));
    }
    return files;
  } catch (const Error&) {
    return {};  // no file, or one that executors alone can read
  }
}

std::vector<std::string> files_of(const SourceSpec& spec) {
  if (kept_name(spec.location) || spec.arrays) return {};
  std::vector<std::string> files = other_files(spec);
  if (!is_made_in_memory(spec)) files.push_back(spec.location);
  return files;
}

table::Table load(const SourceSpec& spec, bool needs_label, const comm::Communicator& comm, int n_threads,
                  io::ReadFacts* facts) {
  const auto [found, reader] = prepare(spec, comm);
  return reader->load({found, needs_label, comm, n_threads, facts});
}

std::unique_ptr<table::RowSource> open(const SourceSpec& spec, bool needs_label, const comm::Communicator& comm,
                                       int n_threads, io::ReadFacts* facts) {
  const auto [found, reader] = prepare(spec, comm);
  return reader->open({found, needs_label, comm, n_threads, facts});
}

}  // namespace podere::source
