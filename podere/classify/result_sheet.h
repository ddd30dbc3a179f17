// The contact sheet of what came out of pictures.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "podere/classify/outcome.h"
#include "podere/classify/picture_network.h"
#include "podere/image/list.h"

namespace podere::classify {

/// What is known of picture i.
struct SheetResults {
  std::function<Outcome(std::size_t)> outcome;
  std::function<bool(std::size_t)> is_suspect;  ///< may end its decoder: decoded in a process of its own, again
  int decode_seconds = 0;                       ///< for such a picture
};

/// As contact_sheet has it. `location`: of the pictures. `labels`: names of the classes; empty: their numbers.
/// Pictures that cannot be read any more are left out.
std::string result_sheet(const std::string& location, const PictureNetwork& network, const image::PictureList& pictures,
                         std::span<const std::string> labels, const SheetResults& results);

}  // namespace podere::classify
