// What an executor does with a picture.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "podere/classify/classify.h"
#include "podere/classify/decode_clock.h"
#include "podere/classify/outcome.h"
#include "podere/classify/picture_network.h"
#include "podere/classify/step_seconds.h"
#include "podere/image/decode.h"
#include "podere/image/list.h"

namespace podere::classify {

/// Where a picture is decoded: on the thread that has it, or in a process of its own.
enum class Decoding { kHere, kApart };

/// What the threads of this executor do with pictures: they read, decode, resize and classify one each. Where a decoder
/// takes too long on the thread that has the picture, the executor ends (SIGXCPU).
class Pipeline {
 public:
  /// What is passed must outlive it.
  Pipeline(const Options& options, const image::PictureList& pictures, const PictureNetwork& network, int n_threads);

  /// Thread-safe for different threads. Throws InputError if the picture cannot be used and that is to end it all.
  Outcome outcome_of(std::size_t i, int thread, Decoding decoding);

  /// Calls `body` and adds its time to that of `step`.
  template <typename Body>
  void time(Step step, Body&& body) {
    seconds_.in(step, body);
  }
  const StepSeconds& seconds() const { return seconds_; }

 private:
  image::Picture decode(image::Bytes bytes, std::size_t i, int thread, Decoding decoding, Outcome& outcome);
  void prepare(const image::Picture& picture, PictureNetwork::Lane& lane, Outcome& outcome) const;
  void check_scores(std::span<const float> scores, Outcome& outcome, std::size_t i) const;

  const Options& options_;
  const image::PictureList& pictures_;
  const PictureNetwork& network_;
  std::vector<PictureNetwork::Lane> lanes_;
  StepSeconds seconds_;
  DecodeClock clock_;
};

}  // namespace podere::classify
