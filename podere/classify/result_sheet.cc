#include "podere/classify/result_sheet.h"

#include <filesystem>
#include <new>
#include <optional>
#include <vector>

#include "podere/base/json.h"
#include "podere/classify/contact_sheet.h"
#include "podere/image/decode.h"
#include "podere/image/decode_apart.h"

namespace podere::classify {
namespace {

/// Of a path or a name; without folders, so that the sheet has the same bytes wherever it is made.
std::string last_part(const std::string& location) {
  const std::filesystem::path path(location);
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

std::optional<image::Picture> read_again(const image::PictureList& pictures, std::size_t i, const SheetResults& results,
                                         image::DecodeOptions decoding) {
  try {
    const auto file = pictures.read(i);
    const std::vector<std::uint8_t>& bytes = file->get();
    decoding.page = pictures.page(i);
    if (!results.is_suspect(i)) return image::decode(bytes, pictures.title(i), decoding);
    return image::decode_apart(bytes, pictures.title(i), results.decode_seconds, decoding).picture;
  } catch (const Error&) {
    return std::nullopt;
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
}

}  // namespace

std::string result_sheet(const std::string& location, const PictureNetwork& network, const image::PictureList& pictures,
                         std::span<const std::string> labels, const SheetResults& results) {
  const Json& facts = network.facts();
  SheetSource source;
  source.title = last_part(location);
  source.facts = {{"network", last_part(facts.at("path"))},
                  {"input", facts.at("input")},
                  {"preprocessing", last_part(facts.at("preprocessing"))},
                  {"scores", facts.at("scores")}};
  source.n_pictures = pictures.size();
  source.row = [&](std::size_t i) {
    const Outcome outcome = results.outcome(i);
    if (outcome.top.empty()) return SheetRow{pictures.name(i), "", 0, outcome.fault};
    const Score& best = outcome.top.front();
    return SheetRow{pictures.name(i), labels.empty() ? std::to_string(best.label) : labels[best.label], best.score, ""};
  };
  source.picture = [&](std::size_t i) { return read_again(pictures, i, results, network.decoding()); };
  return contact_sheet(source);
}

}  // namespace podere::classify
