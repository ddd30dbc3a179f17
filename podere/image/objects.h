// The ten kinds of objects of simulated micrographs.
#pragma once

#include "podere/image/relief.h"

namespace podere::image {

/// Draws an object of the kind, of kMicrographKinds, onto an empty relief.
void draw_object(int kind, Dice& dice, Relief& relief);

}  // namespace podere::image
