// What came out of one picture.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "podere/base/json.h"
#include "podere/image/microscope.h"

namespace podere::classify {

/// A class and how sure the network is of it.
struct Score {
  std::uint32_t label = 0;
  float score = 0;
};

struct Outcome {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::vector<Score> top;             ///< the best first; empty where the picture failed
  std::string fault_kind;             ///< why it failed, in a word or two; empty if it did not
  std::string fault;                  ///< the same as a line
  image::MicroscopeFacts microscope;  ///< without its pairs
  bool has_other_pages = false;       ///< its file has
  std::string image;                  ///< what is kept of the picture itself
};

/// Numbers that microscopes wrote into pictures, as outputs call them.
inline constexpr std::array kMicroscopeNumbers = {"pixel_size_nm", "voltage_kv", "working_distance_mm",
                                                  "magnification"};
/// Their values, in that order.
std::array<std::optional<double>, kMicroscopeNumbers.size()> microscope_numbers(const image::MicroscopeFacts& facts);

/// The `n` best of `scores`, which become probabilities first where `needs_softmax`. Of equal scores the lower label
/// comes first; NaN comes last.
std::vector<Score> best_of(std::span<const float> scores, std::size_t n, bool needs_softmax);

/// As JSON: "width", "height", "top" [[label, bits of the score], ...], "kind" and "error", texts, "numbers"
/// [kMicroscopeNumbers], "detector" and "other_pages". Without the image.
Json to_json(const Outcome& outcome);
/// As bytes, which from_bytes turns back into the same.
std::string to_bytes(const Outcome& outcome);
/// Throws Error.
Outcome from_bytes(const std::string& bytes);

/// The line of names over those of append_csv_line.
std::string csv_head(std::size_t n_top);
/// The picture, labels and scores by turns, width, height, error, what the microscope wrote; with a line break. Scores
/// are shortest decimals that read back as the same float32. `labels`: names of the classes; empty: their numbers.
void append_csv_line(const std::string& picture, const Outcome& outcome, std::size_t n_top,
                     std::span<const std::string> labels, std::string& text);

}  // namespace podere::classify
