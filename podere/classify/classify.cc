#include "podere/classify/classify.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "podere/base/atomic_file.h"
#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/base/printable.h"
#include "podere/classify/class_names.h"
#include "podere/classify/decode_clock.h"
#include "podere/classify/outcome.h"
#include "podere/classify/part_files.h"
#include "podere/classify/result_sheet.h"
#include "podere/classify/run_folder.h"
#include "podere/comm/hand_out.h"
#include "podere/image/decode.h"
#include "podere/image/decode_apart.h"
#include "podere/image/list.h"

namespace podere::classify {
namespace {

constexpr double kReportSeconds = 0.2;

enum Step { kRead, kDecode, kPrepare, kNetwork, kKeep };
constexpr std::array kStepNames = {"read", "decode", "resize", "network", "write"};

/// Seconds of all threads in each step.
class StepSeconds {
 public:
  /// Calls `body` and adds its time.
  template <typename Body>
  auto in(Step step, Body&& body) {
    struct AtEnd {
      std::atomic<std::uint64_t>& nanoseconds;
      Stopwatch watch = {};
      ~AtEnd() { nanoseconds += static_cast<std::uint64_t>(watch.seconds() * 1e9); }
    } at_end{nanoseconds_[step]};
    return body();
  }
  Json over_ranks(const comm::Communicator& comm) const {
    Json seconds = Json::object();
    for (std::size_t step = 0; step < kStepNames.size(); ++step) {
      const auto all = comm.all_reduce(nanoseconds_[step].load(), comm::Reduction::kSum);
      seconds[kStepNames[step]] = static_cast<double>(all) * 1e-9;
    }
    return seconds;
  }

 private:
  std::array<std::atomic<std::uint64_t>, kStepNames.size()> nanoseconds_{};
};

/// Ends this executor: a decoder that does not end cannot be ended alone. Others continue, and have the picture decoded
/// apart.
[[noreturn]] void end_at_decoder(const std::string& title, int most_seconds) {
  fmt::print(stderr, "podere: {}: takes more than {} s to decode: this executor ends\n", title, most_seconds);
  std::fflush(stderr);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  std::signal(SIGXCPU, SIG_DFL);
  std::raise(SIGXCPU);
  std::_Exit(1);
}

/// Where a picture is decoded: on the thread that has it, or in a process of its own.
enum class Decoding { kHere, kApart };

/// What the threads of this executor do with pictures.
class Pipeline {
 public:
  Pipeline(const Options& options, const image::PictureList& pictures, const PictureNetwork& network, int n_threads)
      : options_(options),
        pictures_(pictures),
        network_(network),
        clock_(n_threads, options.decode_seconds,
               [this](std::uint64_t i) { end_at_decoder(pictures_.title(i), options_.decode_seconds); }) {
    for (int thread = 0; thread < n_threads; ++thread) lanes_.push_back(network.new_lane());
  }

  /// Throws InputError if the picture cannot be used and that is to end it all.
  Outcome outcome_of(std::size_t i, int thread, Decoding decoding) {
    Outcome outcome;
    try {
      const std::vector<std::uint8_t> bytes = seconds_.in(kRead, [&] { return pictures_.read(i); });
      if (options_.keep_images == KeptImages::kOriginal) outcome.image.assign(bytes.begin(), bytes.end());
      const image::Picture picture = seconds_.in(kDecode, [&] { return decode(bytes, i, thread, decoding, outcome); });
      PictureNetwork::Lane& lane = lanes_[static_cast<std::size_t>(thread)];
      seconds_.in(kPrepare, [&] { prepare(picture, lane, outcome); });
      const std::span<const float> scores = seconds_.in(kNetwork, [&] { return network_.run(lane); });
      outcome.top = best_of(scores, options_.top, network_.needs_softmax());
      check_scores(scores, outcome, i);
    } catch (const image::PictureFault& fault) {
      if (options_.is_strict) throw;
      outcome.fault_kind = name_of(fault.kind());
      outcome.fault = fault.what();
    } catch (const std::bad_alloc&) {  // nothing that the picture can be blamed for: on another machine it may do
      throw_error("{}: there is not enough memory for it: give executors fewer cores", pictures_.title(i));
    }
    return outcome;
  }

  /// Calls `body` and adds its time to that of `step`.
  template <typename Body>
  void time(Step step, Body&& body) {
    seconds_.in(step, body);
  }
  const StepSeconds& seconds() const { return seconds_; }

 private:
  image::Picture decode(image::Bytes bytes, std::size_t i, int thread, Decoding decoding, Outcome& outcome) {
    const std::string title = pictures_.title(i);
    image::PictureWithFacts decoded;
    if (decoding == Decoding::kApart) {
      decoded = image::decode_apart(bytes, title, options_.decode_seconds, network_.decoding());
    } else {
      clock_.in(thread, i, [&] { decoded = image::decode_with_facts(bytes, title, network_.decoding()); });
    }
    outcome.microscope = std::move(decoded.microscope);
    outcome.width = decoded.picture.width;
    outcome.height = decoded.picture.height;
    return std::move(decoded.picture);
  }

  void prepare(const image::Picture& picture, PictureNetwork::Lane& lane, Outcome& outcome) const {
    image::Picture small = network_.prepare(picture, lane);
    if (options_.keep_images != KeptImages::kSmall) return;
    if (network_.input().n_channels == image::kRgb) small = image::to_rgb(std::move(small));
    outcome.image.assign(small.pixels.begin(), small.pixels.end());
  }

  void check_scores(std::span<const float> scores, Outcome& outcome, std::size_t i) const {
    const auto is_nan = [](const Score& score) { return std::isnan(score.score); };
    if (std::ranges::none_of(scores, [](float score) { return std::isnan(score); }) &&
        std::ranges::none_of(outcome.top, is_nan)) {
      return;
    }
    const std::string fault =
        fmt::format("{}: the network's scores of it are NaN: its --preprocess may be another", pictures_.title(i));
    if (options_.is_strict) throw_input_error("{}", fault);
    outcome.top.clear();
    outcome.width = outcome.height = 0;
    if (options_.keep_images == KeptImages::kSmall) outcome.image.clear();
    outcome.fault_kind = "scores are NaN";
    outcome.fault = fault;
  }

  const Options& options_;
  const image::PictureList& pictures_;
  const PictureNetwork& network_;
  std::vector<PictureNetwork::Lane> lanes_;
  StepSeconds seconds_;
  DecodeClock clock_;
};

/// The same for "a", "./a" and "a/".
std::string plain_path(const std::string& path) {
  std::string plain = std::filesystem::absolute(path).lexically_normal().string();
  while (plain.size() > 1 && plain.ends_with('/')) plain.pop_back();
  return plain;
}

/// All that the result of a picture depends on.
Json settings_of(const Options& options, const PictureNetwork& network) {
  const Json& facts = network.facts();
  return {{"version", fmt::format("{} ({})", PODERE_VERSION, graph::kBitsVersion)},
          {"pictures", plain_path(options.pictures)},
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

/// Rank 0 writes the output from the part files of all. Returns "classified", and "faults" by kind.
Json write_output(const OutputOptions& options, const Results& results, const image::PictureList& pictures,
                  Progress& progress) {
  const std::unique_ptr<Output> output = open_output(options);
  std::map<std::string, std::uint64_t> n_of_kind;
  Stopwatch since_reported;
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const Outcome outcome = from_bytes(results.result(i));
    ++n_of_kind[outcome.fault_kind];
    output->add(pictures.name(i), outcome);
    if (since_reported.seconds() < kReportSeconds) continue;
    since_reported.restart();
    progress.report({"write", i + 1, pictures.size(), {}});
  }
  output->end();
  const std::uint64_t n_classified = n_of_kind[""];
  n_of_kind.erase("");
  return {{"classified", n_classified}, {"faults", n_of_kind}};
}

/// Rank 0 writes all that is wanted from the part files of all runs and ranks. Returns as write_output.
Json write_all(const Options& options, const PictureNetwork& network, const std::vector<std::string>& labels,
               const Json& settings, const RunFolder& folder, int n_ranks, const image::PictureList& pictures,
               Progress& progress) {
  const OutputOptions output = {.path = options.output,
                                .format = options.format,
                                .n_pictures = pictures.size(),
                                .n_top = options.top,
                                .labels = labels,
                                .keep_images = options.keep_images,
                                .input = network.input(),
                                .attributes = attributes_of(settings)};
  std::vector<std::filesystem::path> files = folder.earlier_parts();
  for (int rank = 0; rank < n_ranks; ++rank) files.push_back(folder.part(rank));
  const Results results(files, pictures.size());
  Json counts = write_output(output, results, pictures, progress);
  if (options.has_contact_sheet) {
    AtomicFile sheet(std::filesystem::path(options.folder) / kContactSheetName);
    sheet.write(result_sheet(options.pictures, network, pictures, labels,
                             [&](std::size_t i) { return from_bytes(results.result(i)); }));
    sheet.commit_unflushed();
  }
  return counts;
}

}  // namespace

Json classify(Options options, const comm::Communicator& comm, int n_threads, Progress& progress) {
  progress.report({"list", 0, 1, {}});
  std::unique_ptr<const PictureNetwork> network;
  std::vector<std::string> labels;
  Json settings;
  comm.agree([&] {
    if (options.pictures.empty()) throw_input_error("PICTURES is empty: a folder, a pattern, a list, an archive");
    network = std::make_unique<PictureNetwork>(options.network);
    if (options.top == 0) options.top = static_cast<std::uint32_t>(std::min<std::size_t>(5, network->n_classes()));
    if (options.top > network->n_classes()) {
      throw_input_error("--top is {}, the network has {} classes", options.top, network->n_classes());
    }
    if (options.decode_seconds < 1 || options.decode_seconds > kMostDecodeSeconds) {
      throw_input_error("decode_seconds is {}, allowed are 1 to {}", options.decode_seconds, kMostDecodeSeconds);
    }
    if (options.format == OutputFormat::kText && options.keep_images != KeptImages::kNone) {
      throw_input_error("--keep-images needs an HDF5 file: -o FILE.h5");
    }
    if (!options.labels.empty() && comm.is_root()) {
      labels = read_class_names(options.labels, network->n_classes());
      if (const std::string repeated = repeated_names(labels); !repeated.empty()) {
        progress.warn(fmt::format("{}: {}: CSV and contact sheets do not tell these classes apart, numbers in HDF5 do",
                                  options.labels, repeated));
      }
    }
    settings = settings_of(options, *network);
  });
  check_same_on_ranks(settings, comm);
  const RunFolder folder(options.folder, settings, comm);
  const image::PictureList pictures = folder.pictures(options.pictures, comm);
  const Left left = find_left(folder, pictures.size(), options.is_strict, comm);
  if (!left.suspect.empty() && comm.is_root()) {
    progress.warn(fmt::format("{} picture{} may end the decoder: decoded in processes of their own, first",
                              left.suspect.size(), left.suspect.size() == 1 ? "" : "s"));
  }
  std::unique_ptr<PartFile> part;
  comm.agree([&] { part = std::make_unique<PartFile>(folder.part(comm.rank())); });

  const std::size_t n_before = pictures.size() - left.size();
  const Stopwatch watch;
  Pipeline pipeline(options, pictures, *network, n_threads);
  std::size_t n_done = 0;
  const auto do_all = [&](const std::vector<std::uint64_t>& tasks, Decoding decoding) {
    const std::size_t n_done_before = n_done;
    const auto report = [&](std::size_t n) {
      const double seconds = watch.seconds();
      const auto n_now = static_cast<double>(n_done_before + n);
      progress.report({"classify",
                       n_before + n_done_before + n,
                       pictures.size(),
                       {{"pictures_per_second", seconds > 0 ? n_now / seconds : 0}},
                       "picture"});
      return !progress.stop_requested();
    };
    const auto work = [&](std::size_t task, int thread) {
      part->begin(tasks[task]);
      const Outcome outcome = pipeline.outcome_of(tasks[task], thread, decoding);
      pipeline.time(kKeep, [&] { part->end(tasks[task], to_bytes(outcome)); });
    };
    report(0);
    const std::size_t n = comm::hand_out(comm, tasks.size(), n_threads, {work, report});
    n_done += n;
    return n == tasks.size();
  };
  const bool is_all_done = do_all(left.suspect, Decoding::kApart) && do_all(left.fresh, Decoding::kHere);
  comm.agree([&] { part->close(); });

  Json result = {{"pictures", pictures.size()},
                 {"other_files", pictures.left_out().n_others},
                 {"replaced", pictures.left_out().n_replaced},
                 {"earlier", n_before},
                 {"network", network->facts()},
                 {"classify_seconds", watch.seconds()},
                 {"seconds_of", pipeline.seconds().over_ranks(comm)},
                 {"was_stopped", !is_all_done}};
  if (!is_all_done) return result;
  progress.report({"write", 0, pictures.size(), {}});
  comm.agree([&] {
    if (!comm.is_root()) return;
    result.update(write_all(options, *network, labels, settings, folder, comm.size(), pictures, progress));
  });
  return result;
}

}  // namespace podere::classify
