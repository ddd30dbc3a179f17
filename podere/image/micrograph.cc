#include "podere/image/micrograph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "podere/image/legend.h"
#include "podere/image/objects.h"

namespace podere::image {
namespace {

constexpr std::uint64_t kKindStream = 0x73656d6b;  // keep the random numbers of each use apart
constexpr std::uint64_t kShapeStream = 0x73656d73;
constexpr std::uint64_t kNoiseStream = 0x73656d6e;
constexpr std::array<std::string_view, 2> kDetectors = {"InLens", "SE2"};

/// The mean over 2 * reach + 1 values along a line of `n` that lie `stride` apart, with the ends repeated.
void average_line(float* values, std::size_t n, std::size_t stride, int reach, std::vector<float>& line) {
  const auto last = static_cast<std::ptrdiff_t>(n) - 1;
  line.resize(n);
  for (std::size_t i = 0; i < n; ++i) line[i] = values[i * stride];
  float sum = 0;
  for (std::ptrdiff_t i = -reach; i <= reach; ++i)
    sum += line[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(i, 0, last))];
  const float share = 1 / static_cast<float>(2 * reach + 1);
  for (std::ptrdiff_t i = 0; i <= last; ++i) {
    values[static_cast<std::size_t>(i) * stride] = sum * share;
    sum += line[static_cast<std::size_t>(std::min(i + reach + 1, last))] -
           line[static_cast<std::size_t>(std::max<std::ptrdiff_t>(i - reach, 0))];
  }
}

/// The mean of each pixel's surroundings: rows, then all columns side by side.
std::vector<float> average(const std::vector<float>& values, std::size_t width, std::size_t height, int reach) {
  std::vector<float> means = values, line;
  for (std::size_t y = 0; y < height; ++y) average_line(means.data() + y * width, width, 1, reach, line);
  const std::vector<float> rows = means;
  const auto row_at = [&](std::ptrdiff_t y) {
    return rows.data() +
           static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(y, 0, static_cast<std::ptrdiff_t>(height) - 1)) * width;
  };
  std::vector<float> sums(width, 0.0F);
  for (std::ptrdiff_t y = -reach; y <= reach; ++y) {
    for (std::size_t x = 0; x < width; ++x) sums[x] += row_at(y)[x];
  }
  const float share = 1 / static_cast<float>(2 * reach + 1);
  for (std::size_t y = 0; y < height; ++y) {
    const float* const next = row_at(static_cast<std::ptrdiff_t>(y) + reach + 1);
    const float* const first = row_at(static_cast<std::ptrdiff_t>(y) - reach);
    for (std::size_t x = 0; x < width; ++x) {
      means[y * width + x] = sums[x] * share;
      sums[x] += next[x] - first[x];
    }
  }
  return means;
}

/// How many secondary electrons come from each pixel.
std::vector<float> count_electrons(Dice& dice, Relief& relief) {
  const auto width = static_cast<std::size_t>(relief.width()), height = static_cast<std::size_t>(relief.height());
  const float flat = dice.between(0.25F, 0.45F), edge = dice.between(0.5F, 1.0F), side = dice.between(0, 0.25F);
  const float depth = dice.between(0.02F, 0.06F);
  const Point light = dice.direction();
  const std::vector<float> heights(relief.heights(0), relief.heights(0) + width * height);
  const std::vector<float> around = average(heights, width, height, 24);
  std::vector<float> electrons(width * height);
  for (std::size_t y = 0; y < height; ++y) {
    const float* const h = heights.data() + y * width;
    const float* const above = y > 0 ? h - width : h;
    const float* const below = y + 1 < height ? h + width : h;
    const float* const albedo = relief.albedos(static_cast<int>(y));
    for (std::size_t x = 0; x < width; ++x) {
      const float gx = 0.5F * (h[std::min(x + 1, width - 1)] - h[x > 0 ? x - 1 : 0]), gy = 0.5F * (below[x] - above[x]);
      const float slope = std::sqrt(gx * gx + gy * gy);
      const float hollow = std::max(around[y * width + x] - h[x], 0.0F);
      const float lit = side * (gx * light.x + gy * light.y) / (1 + slope);
      electrons[y * width + x] = albedo[x] * (flat + edge * slope / (1 + slope)) / (1 + depth * hollow) + lit;
    }
  }
  return electrons;
}

/// A nearly normal number of mean 0 and deviation 1, of four of 16 bits.
float normal_deviate(std::uint64_t bits) {
  const auto sum = static_cast<float>((bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48));
  return (sum - 131070.0F) * (1 / 37837.0F);  // 2 * 65535 and sqrt(4 / 12) * 65536
}

/// Brightness and contrast as an operator may have set them, and noise as few electrons make it.
void expose(Dice& dice, std::uint64_t noise_key, const std::vector<float>& electrons, Picture& picture) {
  double sum = 0, squares = 0;
  for (const float value : electrons) {
    sum += static_cast<double>(value);
    squares += static_cast<double>(value) * static_cast<double>(value);
  }
  const auto n = static_cast<double>(electrons.size());
  const double mean = sum / n, deviation = std::sqrt(std::max(squares / n - mean * mean, 1e-9));
  const float gain = dice.between(22, 48) / static_cast<float>(deviation), level = dice.between(75, 150);
  const float tilted = dice.between(0, 35);  // across the picture
  const Point tilt = tilted * dice.direction();
  const float noise = dice.between(3, 15);
  for (std::uint32_t y = 0; y < picture.height; ++y) {
    std::uint8_t* const row = picture.row(y);
    const std::uint64_t row_key = mix64(noise_key + y);
    for (std::uint32_t x = 0; x < picture.width; ++x) {
      const float value = level + gain * (electrons[std::size_t{y} * picture.width + x] - static_cast<float>(mean)) +
                          tilt.x * (static_cast<float>(x) / static_cast<float>(picture.width) - 0.5F) +
                          tilt.y * (static_cast<float>(y) / static_cast<float>(picture.height) - 0.5F);
      const float deviates = noise * std::sqrt(std::max(value, 4.0F) * (1 / 128.0F));
      const float seen = value + deviates * normal_deviate(mix64(row_key + (x + 1) * kGoldenGamma));
      row[x] = static_cast<std::uint8_t>(std::clamp(seen + 0.5F, 0.0F, 255.0F));
    }
  }
}

}  // namespace

int micrograph_kind(std::uint64_t seed, std::uint64_t index) {
  return static_cast<int>(hash64(seed, kKindStream, index) % kMicrographKinds.size());
}

Micrograph make_micrograph(std::uint64_t seed, std::uint64_t index) {
  Micrograph result;
  result.kind = micrograph_kind(seed, index);
  Dice dice(RandomSequence(seed, kShapeStream, index));
  constexpr std::array kPixelSizes = {2.5, 5.0, 11.16, 22.33, 37.2, 74.43, 111.7};
  constexpr std::array kVoltages = {1.0, 2.0, 3.0, 5.0, 10.0, 15.0};
  result.pixel_size_nm = kPixelSizes[static_cast<std::size_t>(dice.whole(0, kPixelSizes.size() - 1))];
  result.voltage_kv = kVoltages[static_cast<std::size_t>(dice.whole(0, kVoltages.size() - 1))];
  result.working_distance_mm = dice.whole(20, 120) / 10.0;
  result.detector = kDetectors[static_cast<std::size_t>(dice.whole(0, 1))];
  Relief relief(kMicrographWidth, kMicrographHeight);
  draw_object(result.kind, dice, relief);
  std::vector<float> electrons = count_electrons(dice, relief);
  electrons = average(electrons, kMicrographWidth, kMicrographHeight, 1);  // the beam is no point
  if (dice.happens(0.3F)) electrons = average(electrons, kMicrographWidth, kMicrographHeight, 1);
  result.picture = Picture(kMicrographWidth, kMicrographHeight, kGray);
  expose(dice, hash64(seed, kNoiseStream, index), electrons, result.picture);
  const std::string text = fmt::format("EHT = {:.2f} kV  WD = {:.1f} mm  Signal A = {}", result.voltage_kv,
                                       result.working_distance_mm, result.detector);
  add_legend(result.picture, result.pixel_size_nm, text);
  return result;
}

namespace {

/// Little-endian numbers, one after another.
void append_number(std::string& bytes, std::uint64_t value, int n_bytes) {
  for (int i = 0; i < n_bytes; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
}

/// Pairs of lines, a name and what it is, behind a head of numbers that Zeiss does not document.
std::string zeiss_metadata(const Micrograph& m) {
  const double magnification = 0.1143 / (kMicrographWidth * m.pixel_size_nm * 1e-9);  // of a print 114.3 mm wide
  std::string text = "0\r\n0\r\n0\r\n";
  const auto add = [&](std::string_view name, const std::string& line) {
    text += fmt::format("{}\r\n{}\r\n", name, line);
  };
  add("SV_VERSION", "Version = simulated by Podere");
  add("DP_DETECTOR_CHANNEL", fmt::format("Signal A = {}", m.detector));
  add("DP_DETECTOR_TYPE", fmt::format("Detector = {}", m.detector));
  add("AP_MAG", magnification < 1000 ? fmt::format("Mag = {:.0f} X", magnification)
                                     : fmt::format("Mag = {:.2f} K X", magnification / 1000));
  add("AP_PIXEL_SIZE", fmt::format("Pixel Size = {:.2f} nm", m.pixel_size_nm));
  add("AP_IMAGE_PIXEL_SIZE", fmt::format("Image Pixel Size = {:.2f} nm", m.pixel_size_nm));
  add("AP_WD", fmt::format("WD = {:.1f} mm", m.working_distance_mm));
  add("AP_ACTUALKV", fmt::format("EHT = {:.2f} kV", m.voltage_kv));
  return text + '\0';
}

}  // namespace

std::string to_tiff(const Micrograph& micrograph) {
  struct Entry {
    std::uint16_t tag, type;  // 2: text, 3: 16 bits, 4: 32 bits
    std::uint32_t count, value;
  };
  const std::string metadata = zeiss_metadata(micrograph);
  const Picture& picture = micrograph.picture;
  constexpr std::uint32_t kEntries = 12, kPaletteBegin = 8 + 2 + kEntries * 12 + 4, kPaletteValues = 3 * 256;
  const std::uint32_t metadata_begin = kPaletteBegin + 2 * kPaletteValues;
  const auto n_metadata = static_cast<std::uint32_t>(metadata.size());
  const std::uint32_t pixels_begin = metadata_begin + n_metadata + n_metadata % 2;
  const auto n_pixels = static_cast<std::uint32_t>(picture.pixels.size());
  const Entry entries[kEntries] = {{254, 4, 1, 0},
                                   {256, 4, 1, picture.width},
                                   {257, 4, 1, picture.height},
                                   {258, 3, 1, 8},
                                   {259, 3, 1, 1},  // not packed
                                   {262, 3, 1, 3},  // palette
                                   {273, 4, 1, pixels_begin},
                                   {277, 3, 1, 1},
                                   {278, 4, 1, 0xffffffffU},  // all rows in one strip
                                   {279, 4, 1, n_pixels},
                                   {320, 3, kPaletteValues, kPaletteBegin},
                                   {34118, 2, n_metadata, metadata_begin}};
  std::string bytes = "II*";
  bytes += '\0';
  append_number(bytes, 8, 4);
  append_number(bytes, kEntries, 2);
  for (const Entry& entry : entries) {
    append_number(bytes, entry.tag, 2);
    append_number(bytes, entry.type, 2);
    append_number(bytes, entry.count, 4);
    append_number(bytes, entry.value, 4);
  }
  append_number(bytes, 0, 4);  // no other page
  for (std::uint32_t i = 0; i < kPaletteValues; ++i) append_number(bytes, i % 256 * 257, 2);
  bytes += metadata;
  bytes.resize(pixels_begin);
  bytes.append(reinterpret_cast<const char*>(picture.pixels.data()), n_pixels);
  return bytes;
}

}  // namespace podere::image
