// Arrays of another process as a source.
#pragma once

#include "podere/source/reader.h"

namespace podere::source {

Reader arrays_reader();

}  // namespace podere::source
