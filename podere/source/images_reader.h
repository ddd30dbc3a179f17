// Pictures as a source: images:FOLDER?size=32.
#pragma once

#include "podere/source/reader.h"

namespace podere::source {

Reader images_reader();

}  // namespace podere::source
