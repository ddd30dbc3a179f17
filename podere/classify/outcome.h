// What came out of one picture.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "podere/base/json.h"

namespace podere::classify {

/// A class and how sure the network is of it.
struct Score {
  std::uint32_t label = 0;
  float score = 0;
};

struct Outcome {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::vector<Score> top;  ///< the best first; empty where the picture failed
  std::string fault_kind;  ///< why it failed, in a word or two; empty if it did not
  std::string fault;       ///< the same as a line
};

/// The `n` best of `scores`, which become probabilities first where `needs_softmax`. Of equal scores the lower label
/// comes first; NaN comes last.
std::vector<Score> best_of(std::span<const float> scores, std::size_t n, bool needs_softmax);

/// As JSON: "width", "height", "top" [[label, bits of the score], ...], "kind" and "error", texts.
Json to_json(const Outcome& outcome);
/// As bytes, which from_bytes turns back into the same.
std::string to_bytes(const Outcome& outcome);
/// Throws Error.
Outcome from_bytes(const std::string& bytes);

/// The line of names over those of csv_line.
std::string csv_head(std::size_t n_top);
/// The picture, labels and scores by turns, width, height, error; with a line break. Scores are shortest decimals that
/// read back as the same float32. `labels`: names of the classes; empty: their numbers.
void append_csv_line(const std::string& picture, const Outcome& outcome, std::size_t n_top,
                     std::span<const std::string> labels, std::string& text);

}  // namespace podere::classify
