#include "podere/classify/pipeline.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/file_traffic.h"
#include "podere/image/decode_apart.h"

namespace podere::classify {
namespace {

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

}  // namespace

Pipeline::Pipeline(const Options& options, const image::PictureList& pictures, const PictureNetwork& network,
                   int n_threads)
    : options_(options),
      pictures_(pictures),
      network_(network),
      clock_(n_threads, options.decode_seconds,
             [this](std::uint64_t i) { end_at_decoder(pictures_.title(i), options_.decode_seconds); }) {
  for (int thread = 0; thread < n_threads; ++thread) lanes_.push_back(network.new_lane());
}

Outcome Pipeline::outcome_of(std::size_t i, int thread, Decoding decoding) {
  Outcome outcome;
  try {
    const auto file = seconds_.in(kRead, [&] { return pictures_.read(i); });
    const std::vector<std::uint8_t>& bytes = file->get();
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

image::Picture Pipeline::decode(image::Bytes bytes, std::size_t i, int thread, Decoding decoding, Outcome& outcome) {
  const DecodeTime decoding_time;
  const std::string title = pictures_.title(i);
  image::DecodeOptions options = network_.decoding();
  options.page = pictures_.page(i);
  image::PictureWithFacts decoded;
  if (decoding == Decoding::kApart) {
    decoded = image::decode_apart(bytes, title, options_.decode_seconds, options);
  } else {
    clock_.in(thread, i, [&] { decoded = image::decode_with_facts(bytes, title, options); });
  }
  outcome.microscope = std::move(decoded.microscope);
  outcome.has_other_pages = decoded.has_other_pages;
  outcome.width = decoded.picture.width;
  outcome.height = decoded.picture.height;
  return std::move(decoded.picture);
}

void Pipeline::prepare(const image::Picture& picture, PictureNetwork::Lane& lane, Outcome& outcome) const {
  image::Picture small = network_.prepare(picture, lane);
  if (options_.keep_images != KeptImages::kSmall) return;
  if (network_.input().n_channels == image::kRgb) small = image::to_rgb(std::move(small));
  outcome.image.assign(small.pixels.begin(), small.pixels.end());
}

void Pipeline::check_scores(std::span<const float> scores, Outcome& outcome, std::size_t i) const {
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

}  // namespace podere::classify
