#include "podere/classify/classify.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "podere/base/atomic_file.h"
#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/classify/class_names.h"
#include "podere/classify/outcome.h"
#include "podere/classify/part_files.h"
#include "podere/classify/pipeline.h"
#include "podere/classify/result_sheet.h"
#include "podere/classify/run_folder.h"
#include "podere/comm/hand_out.h"
#include "podere/image/list.h"

namespace podere::classify {
namespace {

constexpr double kReportSeconds = 0.2;

/// The same for "a", "./a" and "a/".
std::string plain_path(const std::string& path) {
  if (path.empty()) return path;  // is refused where it is listed
  std::string plain = std::filesystem::absolute(path).lexically_normal().string();
  while (plain.size() > 1 && plain.ends_with('/')) plain.pop_back();
  return plain;
}

/// All that the result of a picture depends on.
Json settings_of(const Options& options, const PictureNetwork& network) {
  const Json& facts = network.facts();
  return {{"version", fmt::format("{} ({})", PODERE_VERSION, graph::kBitsVersion)},
          {"pictures", plain_path(options.pictures)},
          {"pages", to_string(options.pages)},
          {"model", facts.at("sha256")},
          {"input", facts.at("input")},
          {"layer", options.network.layer},
          {"preprocessing", facts.at("preprocessing_fields")},
          {"top", options.top},
          {"decode_seconds", options.decode_seconds},
          {"keep_images", to_string(options.keep_images)}};
}

/// Throws InputError where ranks read other files by the same names. Collective.
void check_same_on_ranks(const Json& settings, const comm::Communicator& comm) {
  const Json of_root = Json::parse(comm.broadcast_text(settings.dump()));
  comm.agree([&] {
    for (const auto& [name, value] : settings.items()) {
      if (of_root.at(name) != value) {
        throw_input_error("executor {} has another {} than executor 0: they need the same files", comm.rank(), name);
      }
    }
  });
}

/// What the HDF5 file says of where its rows come from.
Json attributes_of(const Json& settings) {
  return {{"program", std::string("podere ") + PODERE_VERSION},
          {"model_sha256", settings.at("model")},
          {"layer", settings.at("layer")},
          {"input", settings.at("input")},
          {"preprocessing", to_text(settings.at("preprocessing"))}};
}

/// The pictures that are left to do.
struct Left {
  std::vector<std::uint64_t> suspect;  ///< may end the decoder: were at work when an executor ended, or failed before
  std::vector<std::uint64_t> fresh;
  std::size_t size() const { return suspect.size() + fresh.size(); }
};

/// The same on all ranks. Collective.
Left find_left(const RunFolder& folder, std::size_t n_pictures, bool is_strict, const comm::Communicator& comm) {
  Left left;
  std::array<std::uint64_t, 2> sizes = {};
  comm.agree([&] {
    if (!comm.is_root()) return;
    const Results results(folder.earlier_parts(), n_pictures);
    for (std::uint64_t i = 0; i < n_pictures; ++i) {
      // A run that is to end at faults meets those of earlier runs again, which may end the decoder again.
      const bool has_result = results.is_done(i);
      if (has_result && !(is_strict && !from_bytes(results.result(i)).fault.empty())) continue;
      (has_result || results.was_begun(i) ? left.suspect : left.fresh).push_back(i);
    }
    sizes = {left.suspect.size(), left.fresh.size()};
  });
  comm.broadcast(std::span<std::uint64_t>(sizes));
  left.suspect.resize(sizes[0]);
  left.fresh.resize(sizes[1]);
  comm.broadcast(std::span(left.suspect));
  comm.broadcast(std::span(left.fresh));
  return left;
}

/// Rank 0 writes the output from the part files of all. Returns "classified", "with_other_pages", and "faults" by kind.
Json write_output(const OutputOptions& options, const Results& results, const image::PictureList& pictures,
                  Progress& progress) {
  const std::unique_ptr<Output> output = open_output(options);
  std::map<std::string, std::uint64_t> n_of_kind;
  std::uint64_t n_with_other_pages = 0;
  Stopwatch since_reported;
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const Outcome outcome = from_bytes(results.result(i));
    ++n_of_kind[outcome.fault_kind];
    if (outcome.has_other_pages && !pictures.has_pages(i)) ++n_with_other_pages;
    output->add(pictures.name(i), outcome);
    if (since_reported.seconds() < kReportSeconds) continue;
    since_reported.restart();
    progress.report({"write", i + 1, pictures.size(), {}});
  }
  output->end();
  const std::uint64_t n_classified = n_of_kind[""];
  n_of_kind.erase("");
  return {{"classified", n_classified}, {"with_other_pages", n_with_other_pages}, {"faults", n_of_kind}};
}

/// What a run stands on, the same on all ranks but for the names.
struct Prepared {
  std::unique_ptr<const PictureNetwork> network;
  std::vector<std::string> labels;  ///< on rank 0
  Json settings;
};

/// Reads the network and sets what the user left open. Throws InputError for options that cannot be. Collective.
Prepared prepare(Options& options, const comm::Communicator& comm, Progress& progress) {
  Prepared prepared;
  comm.agree([&] {
    prepared.network = std::make_unique<PictureNetwork>(options.network);
    const std::size_t n_classes = prepared.network->n_classes();
    if (options.top == 0) options.top = static_cast<std::uint32_t>(std::min<std::size_t>(5, n_classes));
    if (options.top > n_classes) {
      throw_input_error("--top is {}, the network has {} classes", options.top, n_classes);
    }
    if (options.decode_seconds < 1 || options.decode_seconds > kMostDecodeSeconds) {
      throw_input_error("decode_seconds is {}, allowed are 1 to {}", options.decode_seconds, kMostDecodeSeconds);
    }
    if (options.format == OutputFormat::kText && options.keep_images != KeptImages::kNone) {
      throw_input_error("--keep-images needs an HDF5 file: -o FILE.h5");
    }
    if (options.pages == image::Pages::kAll && options.keep_images == KeptImages::kOriginal) {
      throw_input_error(
          "--keep-images original keeps whole files, and with --pages all each page would have its own: "
          "choose small or none");
    }
    prepared.settings = settings_of(options, *prepared.network);
    if (options.labels.empty() || !comm.is_root()) return;
    prepared.labels = read_class_names(options.labels, n_classes);
    if (const std::string repeated = repeated_names(prepared.labels); !repeated.empty()) {
      progress.warn(fmt::format("{}: {}: in CSV and contact sheets these classes look the same, HDF5 has their numbers",
                                options.labels, repeated));
    }
  });
  check_same_on_ranks(prepared.settings, comm);
  return prepared;
}

/// Has all executors do the pictures that are left, the suspect ones first. Returns whether all were done: not if
/// progress wanted to stop. Collective.
bool do_left(const Left& left, std::size_t n_pictures, Pipeline& pipeline, PartFile& part,
             const comm::Communicator& comm, int n_threads, Progress& progress) {
  const std::size_t n_before = n_pictures - left.size();
  const Stopwatch watch;
  std::size_t n_done = 0;
  const auto do_all = [&](const std::vector<std::uint64_t>& tasks, Decoding decoding) {
    const std::size_t n_done_before = n_done;
    const auto report = [&](std::size_t n) {
      const double seconds = watch.seconds();
      const std::size_t n_now = n_done_before + n;
      const double exact = seconds > 0 ? static_cast<double>(n_now) / seconds : 0;
      const double rate = exact < 10 ? exact : std::round(exact);
      progress.report({"classify", n_before + n_now, n_pictures, {{"pictures_per_second", rate}}, "picture"});
      return !progress.stop_requested();
    };
    const auto work = [&](std::size_t task, int thread) {
      part.begin(tasks[task]);
      const Outcome outcome = pipeline.outcome_of(tasks[task], thread, decoding);
      pipeline.time(kKeep, [&] { part.end(tasks[task], to_bytes(outcome)); });
    };
    report(0);
    const std::size_t n = comm::hand_out(comm, tasks.size(), n_threads, {work, report});
    n_done += n;
    return n == tasks.size();
  };
  return do_all(left.suspect, Decoding::kApart) && do_all(left.fresh, Decoding::kHere);
}

/// Rank 0 writes all that is wanted from the part files of all runs and ranks. Returns as write_output.
Json write_all(const Options& options, const Prepared& prepared, const RunFolder& folder, int n_ranks,
               const image::PictureList& pictures, Progress& progress) {
  const OutputOptions output = {.path = options.output,
                                .format = options.format,
                                .n_pictures = pictures.size(),
                                .n_top = options.top,
                                .labels = prepared.labels,
                                .keep_images = options.keep_images,
                                .input = prepared.network->input(),
                                .attributes = attributes_of(prepared.settings)};
  std::vector<std::filesystem::path> files = folder.earlier_parts();
  for (int rank = 0; rank < n_ranks; ++rank) files.push_back(folder.part(rank));
  const Results results(files, pictures.size());
  Json counts = write_output(output, results, pictures, progress);
  if (options.has_contact_sheet) {
    AtomicFile sheet(std::filesystem::path(options.folder) / kContactSheetName);
    sheet.write(result_sheet(options.pictures, *prepared.network, pictures, prepared.labels,
                             {.outcome = [&](std::size_t i) { return from_bytes(results.result(i)); },
                              .is_suspect = [&](std::size_t i) { return results.was_at_an_end(i); },
                              .decode_seconds = options.decode_seconds}));
    sheet.commit_unflushed();
  }
  return counts;
}

}  // namespace

Json classify(Options options, const comm::Communicator& comm, int n_threads, Progress& progress) {
  progress.report({"list", 0, 1, {}});
  const Prepared prepared = prepare(options, comm, progress);
  const PictureNetwork& network = *prepared.network;
  const RunFolder folder(options.folder, prepared.settings, comm);
  const image::PictureList pictures = folder.pictures(options.pictures, options.pages, comm);
  const Left left = find_left(folder, pictures.size(), options.is_strict, comm);
  if (!left.suspect.empty() && comm.is_root()) {
    progress.warn(fmt::format("{} picture{} may end the decoder: decoded in processes of their own, first",
                              left.suspect.size(), left.suspect.size() == 1 ? "" : "s"));
  }
  std::unique_ptr<PartFile> part;
  comm.agree([&] { part = std::make_unique<PartFile>(folder.part(comm.rank())); });

  const Stopwatch watch;
  Pipeline pipeline(options, pictures, network, n_threads);
  const bool is_all_done = do_left(left, pictures.size(), pipeline, *part, comm, n_threads, progress);
  comm.agree([&] { part->close(); });

  Json result = {{"pictures", pictures.size()},
                 {"other_files", pictures.files().left_out.n_others},
                 {"replaced", pictures.files().left_out.n_replaced},
                 {"earlier", pictures.size() - left.size()},
                 {"network", network.facts()},
                 {"classify_seconds", watch.seconds()},
                 {"seconds_of", pipeline.seconds().over_ranks(comm)},
                 {"was_stopped", !is_all_done}};
  if (!is_all_done) return result;
  progress.report({"write", 0, pictures.size(), {}});
  comm.agree([&] {
    if (!comm.is_root()) return;
    result.update(write_all(options, prepared, folder, comm.size(), pictures, progress));
  });
  return result;
}

}  // namespace podere::classify
