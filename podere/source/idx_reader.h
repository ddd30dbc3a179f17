// IDX files, the format of MNIST, as a source.
#pragma once

#include "podere/source/reader.h"

namespace podere::source {

Reader idx_reader();

}  // namespace podere::source
