#include "podere/classify/classify.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/base/parallel.h"
#include "podere/base/sha256.h"
#include "podere/base/subprocess.h"
#include "podere/classify/outcome.h"
#include "podere/classify/part_files.h"
#include "podere/classify/run_folder.h"
#include "podere/comm/hand_out.h"
#include "podere/image/decode.h"
#include "podere/image/list.h"
#include "podere/io/write_lines.h"

namespace podere::classify {
namespace {

/// A picture that was at work so often when an executor ended has ended it.
constexpr std::uint32_t kMostBegun = 3;
constexpr int kPollMs = 1000;

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

/// What the threads of this executor do with pictures.
class Pipeline {
 public:
  Pipeline(const Options& options, const image::PictureList& pictures, const PictureNetwork& network, int n_threads)
      : options_(options), pictures_(pictures), network_(network) {
    for (int thread = 0; thread < n_threads; ++thread) lanes_.push_back(network.new_lane());
  }

  /// Throws InputError if the picture cannot be used and that is to end it all.
  Outcome outcome_of(std::size_t i, int thread, StepSeconds& seconds) {
    Outcome outcome;
    try {
      const std::vector<std::uint8_t> bytes = seconds.in(kRead, [&] { return pictures_.read(i); });
      const image::Picture picture = seconds.in(kDecode, [&] { return image::decode(bytes, pictures_.title(i), {}); });
      outcome.width = picture.width;
      outcome.height = picture.height;
      PictureNetwork::Lane& lane = lanes_[static_cast<std::size_t>(thread)];
      seconds.in(kPrepare, [&] { network_.prepare(picture, lane); });
      const std::span<const float> scores = seconds.in(kNetwork, [&] { return network_.run(lane); });
      outcome.top = best_of(scores, options_.top, network_.needs_softmax());
    } catch (const image::PictureFault& fault) {
      if (options_.is_strict) throw;
      outcome.fault_kind = name_of(fault.kind());
      outcome.fault = fault.what();
    }
    return outcome;
  }

 private:
  const Options& options_;
  const image::PictureList& pictures_;
  const PictureNetwork& network_;
  std::vector<PictureNetwork::Lane> lanes_;
};

std::vector<std::string> read_labels(const std::string& path, std::size_t n_classes) {
  std::ifstream in(path);
  if (!in) throw_input_error("{}: cannot be read", path);
  std::vector<std::string> labels;
  for (std::string line; std::getline(in, line);) {
    if (line.ends_with('\r')) line.pop_back();
    labels.push_back(line);
  }
  while (!labels.empty() && labels.back().empty()) labels.pop_back();
  if (labels.size() != n_classes) {
    throw_input_error("{}: has {} names, one a line, and the network {} classes", path, labels.size(), n_classes);
  }
  return labels;
}

/// All that the result of a picture depends on.
Json settings_of(const Options& options, const PictureNetwork& network) {
  const Json& facts = network.facts();
  return {{"pictures", std::filesystem::absolute(options.pictures).string()},
          {"model", sha256_of_file(options.network.path)},
          {"input", facts.at("input")},
          {"layer", options.network.layer},
          {"preprocessing", facts.at("preprocessing_fields")},
          {"top", options.top}};
}

/// What the HDF5 file says of where its rows come from.
Json attributes_of(const Json& settings) {
  return {{"program", std::string("podere ") + PODERE_VERSION},
          {"model_sha256", settings.at("model")},
          {"layer", settings.at("layer")},
          {"input", settings.at("input")},
          {"preprocessing", to_text(settings.at("preprocessing"))}};
}

/// The pictures that are left to do, on all ranks. What may have ended executors before is put down as failed.
std::vector<std::uint64_t> tasks_left(const RunFolder& folder, const image::PictureList& pictures, PartFile& part,
                                      const comm::Communicator& comm) {
  std::vector<std::uint64_t> left;
  std::uint64_t n = 0;
  comm.agree([&] {
    if (!comm.is_root()) return;
    const Parts parts(folder.path(), pictures.size());
    for (std::uint64_t i = 0; i < pictures.size(); ++i) {
      if (parts.is_done(i)) continue;
      if (parts.n_begun(i) < kMostBegun) {
        left.push_back(i);
        continue;
      }
      Outcome outcome;
      outcome.fault_kind = "ends executors";
      outcome.fault =
          fmt::format("{}: executors ended {} times while they had it at work", pictures.title(i), parts.n_begun(i));
      part.end(i, to_bytes(outcome));
    }
    n = left.size();
  });
  n = comm.all_reduce(n, comm::Reduction::kMax);
  left.resize(n);
  comm.broadcast(std::span(left));
  return left;
}

/// The outcomes of all pictures, from where they are kept.
class Outcomes {
 public:
  Outcomes(const RunFolder& folder, const image::PictureList& pictures)
      : pictures_(pictures), parts_(folder.path(), pictures.size()) {}
  std::size_t size() const { return pictures_.size(); }
  const std::string& picture(std::size_t i) const { return pictures_.name(i); }
  Outcome operator[](std::size_t i) const { return from_bytes(parts_.result(i)); }

 private:
  const image::PictureList& pictures_;
  const Parts parts_;
};

/// "classified", and "faults" by kind.
Json count_outcomes(const Outcomes& outcomes) {
  std::map<std::string, std::uint64_t> faults;
  for (std::size_t i = 0; i < outcomes.size(); ++i) ++faults[outcomes[i].fault_kind];
  const std::uint64_t n_classified = faults[""];
  faults.erase("");
  return {{"classified", n_classified}, {"faults", faults}};
}

/// Each rank writes the lines of a run of the pictures. Collective.
void write_csv(const Options& options, const Outcomes& outcomes, std::span<const std::string> labels,
               const comm::Communicator& comm, int n_threads) {
  const Slice own =
      slice_of(outcomes.size(), static_cast<std::size_t>(comm.rank()), static_cast<std::size_t>(comm.size()));
  const auto format = [&](std::size_t begin, std::size_t end, std::string& text) {
    for (std::size_t i = own.begin + begin; i < own.begin + end; ++i) {
      append_csv_line(outcomes.picture(i), outcomes[i], options.top, labels, text);
    }
  };
  io::write_lines(options.output, csv_head(options.top), own.end - own.begin, format, comm, n_threads);
}

/// Has podere-hdf5 write all, in the form of podere/columns/hdf5_program/write_labels.h.
void write_hdf5(const Options& options, const Outcomes& outcomes, const std::vector<std::string>& labels,
                const Json& attributes) {
  Subprocess writer({.argv = {program_beside("podere-hdf5"), "--write-labels", options.output}});
  const Json head = {
      {"attributes", attributes}, {"classes", labels}, {"top", options.top}, {"pictures", outcomes.size()}};
  bool is_read = writer.send_line(to_text(head));
  for (std::size_t i = 0; is_read && i < outcomes.size(); ++i) {
    Json line = to_json(outcomes[i]);
    line["name"] = outcomes.picture(i);
    is_read = writer.send_line(to_text(line));
  }
  writer.close_input();
  std::string words;
  while (!writer.streams_ended()) {
    if (const auto line = writer.next_line(kPollMs)) words += line->text;
  }
  const std::optional<int> code = writer.wait(kPollMs);
  if (code && *code == 0) return;
  throw_input_error("{}: {}", options.output, words.empty() ? "podere-hdf5 ended before it was written" : words);
}

}  // namespace

Json classify(Options options, const comm::Communicator& comm, int n_threads, Progress& progress) {
  progress.report({"list", 0, 1, {}});
  std::unique_ptr<const PictureNetwork> network;
  std::vector<std::string> labels;
  Json settings;
  comm.agree([&] {
    network = std::make_unique<PictureNetwork>(options.network);
    if (options.top == 0) options.top = static_cast<std::uint32_t>(std::min<std::size_t>(5, network->n_classes()));
    if (options.top > network->n_classes()) {
      throw_input_error("--top is {}, the network has {} classes", options.top, network->n_classes());
    }
    if (!options.labels.empty()) labels = read_labels(options.labels, network->n_classes());
    if (comm.is_root()) settings = settings_of(options, *network);
  });
  const RunFolder folder(options.folder, settings, comm);
  const image::PictureList pictures = folder.pictures(options.pictures, comm);
  const std::filesystem::path part_path = folder.new_part(comm);
  std::unique_ptr<PartFile> part;
  comm.agree([&] { part = std::make_unique<PartFile>(part_path); });
  const std::vector<std::uint64_t> left = tasks_left(folder, pictures, *part, comm);

  const std::size_t n_before = pictures.size() - left.size();
  const Stopwatch watch;
  const auto report = [&](std::size_t n_done) {
    const double seconds = watch.seconds();
    const double rate = seconds > 0 ? static_cast<double>(n_done) / seconds : 0;
    progress.report({"classify", n_before + n_done, pictures.size(), {{"pictures_per_second", rate}}, "picture"});
    return !progress.stop_requested();
  };
  progress.report({"classify", n_before, pictures.size(), {}, "picture"});
  StepSeconds seconds;
  Pipeline pipeline(options, pictures, *network, n_threads);
  const auto work = [&](std::size_t task, int thread) {
    part->begin(left[task]);
    const Outcome outcome = pipeline.outcome_of(left[task], thread, seconds);
    seconds.in(kKeep, [&] { part->end(left[task], to_bytes(outcome)); });
  };
  const std::size_t n_done = comm::hand_out(comm, left.size(), n_threads, {work, report});

  Json result = {{"pictures", pictures.size()},
                 {"other_files", pictures.n_others()},
                 {"earlier", n_before},
                 {"network", network->facts()},
                 {"classify_seconds", watch.seconds()},
                 {"seconds_of", seconds.over_ranks(comm)},
                 {"was_stopped", n_done < left.size()}};
  if (n_done < left.size()) return result;
  progress.report({"write", 0, 1, {}});
  std::unique_ptr<const Outcomes> outcomes;
  comm.agree([&] { outcomes = std::make_unique<Outcomes>(folder, pictures); });
  if (options.format == OutputFormat::kText) write_csv(options, *outcomes, labels, comm, n_threads);
  comm.agree([&] {
    if (!comm.is_root()) return;
    if (options.format == OutputFormat::kHdf5) write_hdf5(options, *outcomes, labels, attributes_of(settings));
    result.update(count_outcomes(*outcomes));
  });
  return result;
}

}  // namespace podere::classify
