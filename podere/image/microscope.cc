#include "podere/image/microscope.h"

#include <algorithm>
#include <string_view>

#include "podere/base/number.h"
#include "podere/base/printable.h"
#include "podere/image/first_bytes.h"
#include "podere/image/tiff_file.h"

namespace podere::image {
namespace {

constexpr std::uint32_t kZeissTag = 34118;
constexpr std::uint32_t kFeiTag = 34682;
constexpr std::size_t kMostTextBytes = std::size_t{1} << 20;

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\0'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Metadata are written in the letters of Western Europe, where they are not UTF-8.
std::string to_utf8(std::string_view text) {
  if (is_utf8(text)) return std::string(text);
  std::string utf8;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x80) {
      utf8 += c;
    } else {
      utf8 += static_cast<char>(0xc0 | code >> 6);
      utf8 += static_cast<char>(0x80 | (code & 0x3f));
    }
  }
  return utf8;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(to_utf8(trimmed(text.substr(0, end))));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return lines;
}

/// The text of a tag, which libtiff knows nothing of.
std::string_view text_of(const TiffFile& file, std::uint32_t tag) {
  const TIFFField* const field = TIFFFindField(file.get(), tag, TIFF_ANY);
  if (field == nullptr || TIFFFieldPassCount(field) == 0 || TIFFFieldReadCount(field) != TIFF_VARIABLE2) return {};
  if (TIFFFieldDataType(field) != TIFF_ASCII && TIFFFieldDataType(field) != TIFF_BYTE &&
      TIFFFieldDataType(field) != TIFF_UNDEFINED) {
    return {};
  }
  std::uint32_t n = 0;
  const char* text = nullptr;
  if (TIFFGetField(file.get(), tag, &n, &text) != 1 || text == nullptr) return {};
  return {text, std::min<std::size_t>(n, kMostTextBytes)};
}

/// A number and its unit, as a multiple of what the unit stands for: "11.16 nm" is 11.16e-9, "10.00 K X" 1e4.
std::optional<double> parse_quantity(std::string_view text) {
  text = trimmed(text);
  const std::size_t end = std::min(text.find(' '), text.size());
  const auto number = parse_real(text.substr(0, end));
  if (!number) return std::nullopt;
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"", 1},     {"X", 1},     {"V", 1},      {"m", 1},     {"kV", 1e3},       {"KV", 1e3},       {"K X", 1e3},
      {"KX", 1e3}, {"nm", 1e-9}, {"pm", 1e-12}, {"mm", 1e-3}, {"\u00b5m", 1e-6}, {"\u03bcm", 1e-6}, {"um", 1e-6}};
  const std::string_view unit = trimmed(text.substr(end));
  const auto* const found = std::ranges::find(kUnits, unit, &std::pair<std::string_view, double>::first);
  if (found == std::end(kUnits)) return std::nullopt;
  return *number * found->second;
}

std::optional<double> scaled(std::optional<double> value, double scale) {
  if (!value || !(*value > 0)) return std::nullopt;
  return *value * scale;
}

/// Pairs of lines: a name that begins with two letters and an underscore, and a text with = or : in it.
void read_zeiss(std::string_view text, MicroscopeFacts& facts) {
  const std::vector<std::string> lines = lines_of(text);
  std::optional<double> image_pixel_size;
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    const std::string& name = lines[i];
    if (!name.starts_with("AP_") && !name.starts_with("DP_") && !name.starts_with("SV_")) continue;
    const std::string& line = lines[++i];
    facts.pairs.emplace_back(name, line);
    const std::size_t equals = line.find('=');
    if (equals == line.npos) continue;
    const std::string_view value = trimmed(std::string_view(line).substr(equals + 1));
    if (name == "AP_IMAGE_PIXEL_SIZE") image_pixel_size = scaled(parse_quantity(value), 1e9);
    if (name == "AP_PIXEL_SIZE") facts.pixel_size_nm = scaled(parse_quantity(value), 1e9);
    if (name == "AP_ACTUALKV") facts.voltage_kv = scaled(parse_quantity(value), 1e-3);
    if (name == "AP_WD") facts.working_distance_mm = scaled(parse_quantity(value), 1e3);
    if (name == "AP_MAG") facts.magnification = scaled(parse_quantity(value), 1);
    if (name == "DP_DETECTOR_TYPE" || (name == "DP_DETECTOR_CHANNEL" && facts.detector.empty())) facts.detector = value;
  }
  if (image_pixel_size) facts.pixel_size_nm = image_pixel_size;
}

/// Sections in brackets, and lines "name=value", in meters and volts.
void read_fei(std::string_view text, MicroscopeFacts& facts) {
  std::string section;
  for (const std::string& line : lines_of(text)) {
    if (line.starts_with('[') && line.ends_with(']')) {
      section = line.substr(1, line.size() - 2);
      continue;
    }
    const std::size_t equals = line.find('=');
    if (equals == line.npos || equals == 0) continue;
    const std::string name = (section.empty() ? "" : section + ".") + line.substr(0, equals);
    const std::string value = line.substr(equals + 1);
    facts.pairs.emplace_back(name, value);
    const auto number = parse_real(trimmed(value));
    if (name == "Beam.HV" || (name == "EBeam.HV" && !facts.voltage_kv)) facts.voltage_kv = scaled(number, 1e-3);
    if (name == "Scan.PixelWidth" || (name == "EScan.PixelWidth" && !facts.pixel_size_nm)) {
      facts.pixel_size_nm = scaled(number, 1e9);
    }
    if (name == "Stage.WorkingDistance" || (name == "EBeam.WD" && !facts.working_distance_mm)) {
      facts.working_distance_mm = scaled(number, 1e3);
    }
    if (name == "Detectors.Name") facts.detector = value;
  }
}

/// Of pixels per inch or centimeter, where no microscope says more. What is coarser than 1270 per inch is of a screen
/// or a printer: programs write 72 or 300 where they know nothing.
std::optional<double> pixel_size_by_resolution(const TiffFile& file) {
  const auto per_unit = file.tag<float>(TIFFTAG_XRESOLUTION, 0);
  const auto unit = file.tag<std::uint16_t>(TIFFTAG_RESOLUTIONUNIT, RESUNIT_NONE);
  const double unit_nm = unit == RESUNIT_INCH ? 25.4e6 : unit == RESUNIT_CENTIMETER ? 1e7 : 0;
  if (!(per_unit > 0) || unit_nm == 0) return std::nullopt;
  const double size_nm = unit_nm / static_cast<double>(per_unit);
  constexpr double kLeastOfPrinters = 2e4;
  return size_nm < kLeastOfPrinters ? std::optional(size_nm) : std::nullopt;
}

}  // namespace

MicroscopeFacts read_microscope_facts(Bytes bytes, const std::string& name) {
  MicroscopeFacts facts;
  if (find_format(bytes, name) != Format::kTiff) return facts;
  const TiffFile file(bytes, name, kMostPictureBytes);
  if (const std::string_view zeiss = text_of(file, kZeissTag); !zeiss.empty()) {
    read_zeiss(zeiss, facts);
  } else if (const std::string_view fei = text_of(file, kFeiTag); !fei.empty()) {
    read_fei(fei, facts);
  }
  if (!facts.pixel_size_nm) facts.pixel_size_nm = pixel_size_by_resolution(file);
  return facts;
}

PictureWithFacts decode_with_facts(Bytes bytes, const std::string& name, const DecodeOptions& options) {
  PictureWithFacts decoded{decode(bytes, name, options), read_microscope_facts(bytes, name)};
  decoded.has_other_pages = options.page > 0 || count_pages(bytes, name) > 1;
  decoded.microscope.pairs.clear();
  return decoded;
}

}  // namespace podere::image
