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

/// As contact_sheet has it. `location`: of the pictures. `labels`: names of the classes; empty: their numbers.
/// `outcome_of`: what came out of picture i. Pictures that cannot be read any more are left out.
std::string result_sheet(const std::string& location, const PictureNetwork& network, const image::PictureList& pictures,
                         std::span<const std::string> labels, const std::function<Outcome(std::size_t)>& outcome_of);

}  // namespace podere::classify
